"""Credentials for S3 as its other tools find them: the environment, or a profile. They stay in memory.

obstore reads the environment, web identities and the metadata of cloud machines by itself, but no profiles.
"""

from __future__ import annotations

import configparser
import os
from pathlib import Path

from ..errors import BadRequest

_KEYS = {
    "aws_access_key_id": "access_key_id",
    "aws_secret_access_key": "secret_access_key",
    "aws_session_token": "session_token",
    "region": "region",
    "endpoint_url": "endpoint",
}
_OTHER_SOURCES = ("AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                  "AWS_CONTAINER_CREDENTIALS_FULL_URI")  # fmt: skip


def s3_settings() -> dict[str, str]:
    """What obstore is told beyond what it finds by itself: a profile, the endpoint, and a region where none is set."""
    asked = os.environ.get("AWS_PROFILE")
    settings = {}
    if asked or not any(name in os.environ for name in _OTHER_SOURCES):
        settings = _profile(asked or "default")
        if asked and "access_key_id" not in settings and "AWS_ACCESS_KEY_ID" not in os.environ:
            raise BadRequest(
                f"the profile has no keys of its own: {asked!r};"
                " export what it stands for: eval $(aws configure export-credentials --format env)"
            )
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        settings["endpoint"] = endpoint
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    settings["region"] = region or settings.get("region", "us-east-1")
    return settings


def _profile(name: str) -> dict[str, str]:
    """A profile of ~/.aws/config and ~/.aws/credentials; the latter wins."""
    home = Path.home() / ".aws"
    files = {
        os.environ.get("AWS_CONFIG_FILE", str(home / "config")): name if name == "default" else f"profile {name}",
        os.environ.get("AWS_SHARED_CREDENTIALS_FILE", str(home / "credentials")): name,
    }
    found: dict[str, str] = {}
    for path, section in files.items():
        parser = configparser.RawConfigParser()
        try:
            parser.read(path)
        except (configparser.Error, UnicodeDecodeError):
            raise BadRequest(f"not a file of AWS profiles: {path!r}") from None
        if parser.has_section(section):
            found |= {ours: parser[section][theirs] for theirs, ours in _KEYS.items() if theirs in parser[section]}
    return found
