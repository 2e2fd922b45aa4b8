"""Credentials for S3 as its other tools find them, and where it is. They stay in memory.

Keys of the environment come first and need nothing else. Profiles, with SSO and assumed roles, are read by boto3, which
is an extra. Without it obstore still finds web identities and the metadata of cloud machines.
"""

from __future__ import annotations

import os
import re
from datetime import timedelta
from typing import Any

from ...model.errors import BadRequest

# boto3 renews what has less than ten minutes left, but only when asked; obstore asks five minutes before this ends.
_ASK_AGAIN = timedelta(minutes=10)


def s3_settings() -> dict[str, Any]:
    """What obstore is told beyond what it finds by itself: how to get credentials, the endpoint and the region."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        if not re.fullmatch(r"[!-~]*", os.environ.get(name, "")):
            raise BadRequest(f"{name} has a character that no key has")
    provider, profile = (None, {}) if "AWS_ACCESS_KEY_ID" in os.environ else _from_boto3()
    endpoint = _first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") or profile.get("endpoint_url")
    region = _first("AWS_REGION", "AWS_DEFAULT_REGION") or profile.get("region") or "us-east-1"
    if endpoint and not re.fullmatch(r"https?://([^\s/@:\[\]]+|\[[^\s/\]]+\])(:\d+)?(/\S*)?", endpoint):
        raise BadRequest(f"the endpoint of S3 is http(s)://host:port: {endpoint!r}")
    if not re.fullmatch(r"[\w.-]+", region):
        raise BadRequest(f"the region of S3 is a word such as us-east-1: {region!r}")
    config = {"region": region} | ({"endpoint": endpoint} if endpoint else {})
    return {"config": config, "credential_provider": provider}


def _first(*names: str) -> str | None:
    return next(filter(None, map(os.environ.get, names)), None)


def _from_boto3() -> tuple[Any, dict[str, Any]]:
    """A provider of credentials, if boto3 knows any, and the settings of the profile."""
    asked = os.environ.get("AWS_PROFILE")
    try:
        import botocore.session
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError:
        if asked:
            raise BadRequest(
                f"AWS_PROFILE={asked!r} needs boto3: pip install 'knights-tour-enumerator[s3]';"
                " or export AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            ) from None
        return None, {}
    session = botocore.session.get_session()
    try:
        profile = session.get_scoped_config()
        if session.get_credentials() is None and not asked:
            return None, profile
        provider = Boto3CredentialProvider(session, ttl=_ASK_AGAIN)
        provider()  # what is wrong with them is said now, not at the first request
    except Exception as error:  # of boto3, of what it calls, of the file; the text may quote what a program printed
        raise BadRequest(
            f"no credentials from the AWS profile: {asked or 'default'!r} ({type(error).__name__});"
            " `aws sts get-caller-identity` tells more"
        ) from None
    return provider, profile
