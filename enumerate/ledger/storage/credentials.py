"""Credentials for S3 as its other tools find them: the environment, or a profile. They stay in memory.

obstore reads the environment, web identities and the metadata of cloud machines by itself, but no profiles.
"""

from __future__ import annotations

import configparser
import os
import re
from pathlib import Path

from ...model.errors import BadRequest

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
    asked, elsewhere = os.environ.get("AWS_PROFILE"), any(name in os.environ for name in _OTHER_SOURCES)
    settings = _profile(asked or "default")
    if elsewhere:  # keys of the environment come first, as with S3's other tools
        settings = {key: settings[key] for key in ("region", "endpoint") if key in settings}
    elif asked and "access_key_id" not in settings:
        raise BadRequest(
            f"the profile has no keys of its own: {asked!r};"
            " export what it stands for: eval $(aws configure export-credentials --format env)"
        )
    elif "AWS_SESSION_TOKEN" in os.environ:
        raise BadRequest("AWS_SESSION_TOKEN is set without AWS_ACCESS_KEY_ID: it belongs to other keys")
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or settings.get("endpoint")
    if endpoint:
        _refuse_unless(
            r"https?://([^\s/@:\[\]]+|\[[^\s/\]]+\])(:\d+)?(/\S*)?",
            endpoint,
            "the endpoint of S3 is http(s)://host:port",
        )
        settings["endpoint"] = endpoint
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or settings.get("region")
    settings["region"] = region or "us-east-1"
    _refuse_unless(r"[\w.-]+", settings["region"], "the region of S3 is a word such as us-east-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        if not re.fullmatch(r"[!-~]*", os.environ.get(name, "")):
            raise BadRequest(f"{name} has a character that no key has")
    return settings


def _refuse_unless(pattern: str, value: str, meaning: str) -> None:
    if not re.fullmatch(pattern, value):
        raise BadRequest(f"{meaning}: {value!r}")


def _profile(name: str) -> dict[str, str]:
    """A profile of ~/.aws/config and ~/.aws/credentials; the latter wins."""
    home = Path(os.path.expanduser("~")) / ".aws"
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
