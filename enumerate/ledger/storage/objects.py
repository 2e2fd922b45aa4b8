"""An object store: `s3://`, and `gs://` and `az://` by the same requests. An object appears whole or not at all.

Everything that counts is created with a condition (`If-None-Match: *`), so that of two writers one wins. pyarrow's own
file systems have no such request, and so this speaks through obstore. All requests may be repeated without harm, and
they are, until they succeed or patience ends.

Credentials for S3 are those that its other tools find. They stay in memory. Keys of the environment come first and need
nothing else. Profiles, with SSO and assumed roles, are read by boto3, which is an extra. Without it obstore still finds
web identities and the metadata of cloud machines.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any, TypeVar

import obstore.store
from obstore.exceptions import AlreadyExistsError, BaseError, GenericError

from ...model.errors import BadRequest, Damaged
from ..layout import LOCK
from .lease import RENEW_SECONDS, Lease, found
from .protocol import Buffer

PATIENCE_SECONDS = 45.0  # how long a store may be out of reach before the run stops
FIRST_SECONDS = 10.0  # the same, for a store that has not answered yet
CHUNK = 1000  # objects that a store lists or removes in one request

T = TypeVar("T")


class Bucket:
    """The files of one run, below one prefix of a bucket.

    `chunk`: how many objects the store lists or removes in one request; `renew_seconds`: see `Lease`.
    """

    def __init__(self, output: str, chunk: int = CHUNK, renew_seconds: float = RENEW_SECONDS) -> None:
        self.output, self.chunk, self.renew_seconds = output.rstrip("/"), chunk, renew_seconds
        self.client = _client(self.output)
        self.store = self.client.store
        self.lease: Lease | None = None  # of a coordinator

    def where(self, name: str) -> str:
        return f"{self.output}/{name}"

    def exists(self, name: str) -> bool:
        return self._ask(lambda: found(self.store.head, name)) is not None

    def read(self, name: str) -> bytes:
        got = self._ask(lambda: found(lambda key: self.store.get(key).bytes(), name))
        if got is None:
            raise Damaged(f"cannot be read (no such object): {name}")
        return bytes(got)

    def entries(self, folder: str) -> Iterator[tuple[str, int]]:
        """Page by page; a page that fails is requested again from where the one before it ended."""
        prefix, last = folder if folder not in ("", ".") else None, None
        while True:
            page = self._ask(lambda after=last: self._page(prefix, after))  # type: ignore[misc]
            yield from ((meta["path"], meta["size"]) for meta in page)
            if len(page) < self.chunk:
                return
            last = page[-1]["path"]

    def _page(self, prefix: str | None, after: str | None) -> list[Any]:
        stream = self.store.list(prefix, offset=after, chunk_size=self.chunk)
        return list(next(iter(stream), ()))

    def create(self, name: str, data: Buffer) -> bool:
        def put() -> bool:
            try:
                self.store.put(name, bytes(data), mode="create", use_multipart=False)
            except AlreadyExistsError:
                if found(self.store.head, name) is None:
                    raise Passing from None  # two writers collided, and both were refused
                return False
            return True

        return self._ask(put)

    def replace(self, name: str, data: Buffer) -> None:
        self._confirm()
        self._ask(lambda: self.store.put(name, bytes(data), use_multipart=False))

    def replace_folder(self, folder: str, files: Iterable[tuple[str, Buffer]]) -> None:
        with tempfile.TemporaryFile() as staged:
            sizes = [(name, staged.write(data)) for name, data in files]
            staged.seek(0)
            self.remove([name for name, _ in self.entries(folder)])
            for name, size in sizes:
                self.replace(f"{folder}/{name}", staged.read(size))

    def remove(self, names: Iterable[str]) -> None:
        left = list(names)
        for first in range(0, len(left), self.chunk):
            chunk = left[first : first + self.chunk]
            self._confirm()
            self._ask(lambda keys=chunk: found(self.store.delete, keys))  # type: ignore[misc]

    def _confirm(self) -> None:
        if self.lease:
            self.lease.confirm()

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        with self._lease() as lease:
            self.lease = lease
            try:
                yield
            finally:
                self.lease = None

    def check_lock(self) -> None:
        if self.lease:
            self.lease.check()

    @contextlib.contextmanager
    def lock_for_reading(self) -> Iterator[None]:
        lease = self._lease()
        lease.refuse_if_held()
        yield
        lease.refuse_if_held()  # one that began meanwhile has changed what was read

    def _lease(self) -> Lease:
        return Lease(self.store, LOCK, self.output, self._ask, self.renew_seconds)

    def _ask(self, request: Callable[[], T]) -> T:
        """A request, repeated while the store cannot be reached; what it refuses for good is an error at once."""
        give_up = time.monotonic() + self.client.patience
        pause = 0.1
        while True:
            try:
                answer = request()
                self.client.patience = PATIENCE_SECONDS
                return answer
            except (BaseError, FileNotFoundError, Passing) as error:  # what is not found here is the bucket
                lasting = not isinstance(error, GenericError | Passing) or self._is_refusal(error)
                if lasting or time.monotonic() + pause > give_up:
                    # Out of reach: tidying up may still try, but not for long.
                    self.client.patience = 1.0
                    raise OSError(None, _reason(error)) from None  # the error itself may name keys
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(5.0, 2 * pause)

    def _is_refusal(self, error: Exception) -> bool:
        """Whether the answer will not change: no credentials anywhere, or 4xx other than those that say 'later'."""
        text = str(error)
        if self.client.patience == FIRST_SECONDS and _METADATA in text:
            return True
        status, code = re.search(r"status:? (?:code:? )?4(\d\d)", text), re.search(r"<Code>(\w+)</Code>", text)
        later = (status and status[1] in ("08", "09", "25", "29")) or (code and code[1] in _PASSING)
        return bool(status or (code and code[1] in _LASTING)) and not later


class Passing(Exception):
    """Neither done nor refused: try again."""


@dataclass
class Client:
    """A store with its connections, and how long it is waited for."""

    store: Any
    patience: float = FIRST_SECONDS


@lru_cache(maxsize=8)
def _client(output: str) -> Client:
    """Kept for the life of the process."""
    client: Any = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=30)}
    retries: Any = {"max_retries": 0}  # we repeat requests ourselves: also puts that timed out
    settings: Any = _s3_settings() if output.startswith("s3://") else {"config": {}}
    if settings["config"].get("endpoint", "").startswith("http://"):
        client["allow_http"] = True
    try:
        return Client(obstore.store.from_url(output, **settings, client_options=client, retry_config=retries))
    except (BaseError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]  # errors in the settings name keys by their names only
        raise BadRequest(f"cannot use the object store: {output!r} ({reason})") from None


# boto3 renews what has less than ten minutes left, but only when asked; obstore asks five minutes before this ends.
_ASK_AGAIN = timedelta(minutes=10)


def _s3_settings() -> dict[str, Any]:
    """What obstore does not find by itself: how to get credentials, the endpoint and the region."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        if not re.fullmatch(r"[!-~]*", os.environ.get(name, "")):
            raise BadRequest(f"{name} must be printable ASCII without spaces")
    provider, profile = (None, {}) if "AWS_ACCESS_KEY_ID" in os.environ else _from_boto3()
    variable = os.environ.get
    endpoint = variable("AWS_ENDPOINT_URL_S3") or variable("AWS_ENDPOINT_URL") or profile.get("endpoint_url")
    region = variable("AWS_REGION") or variable("AWS_DEFAULT_REGION") or profile.get("region") or "us-east-1"
    if endpoint and not re.fullmatch(r"https?://([^\s/@:\[\]]+|\[[^\s/\]]+\])(:\d+)?(/\S*)?", endpoint):
        raise BadRequest(f"the endpoint of S3 must be http(s)://host:port, got {endpoint!r}")
    if not re.fullmatch(r"[\w.-]+", region):
        raise BadRequest(f"the region of S3 must be a word such as us-east-1, got {region!r}")
    config = {"region": region} | ({"endpoint": endpoint} if endpoint else {})
    return {"config": config, "credential_provider": provider}


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
        provider()  # so that an error comes now, not at the first request
    except Exception as error:  # of boto3, of what it calls, of the file; the text may quote what a program printed
        raise BadRequest(
            f"no credentials from the AWS profile: {asked or 'default'!r} ({type(error).__name__});"
            " `aws sts get-caller-identity` shows more"
        ) from None
    return provider, profile


def _reason(error: Exception) -> str:
    """What went wrong, in a line without keys: answers of a store may quote them."""
    text = str(error)
    code, message = re.search(r"<Code>(\w+)</Code>", text), re.search(r"<Message>([^<]{1,200})</Message>", text)
    if code:
        return f"{code[1]}: {message[1]}" if message else code[1]
    name = type(error).__name__
    return next((meaning for words, meaning in _MEANINGS.items() if re.search(words, f"{text} {name}")), name)


_PASSING = ("RequestTimeout", "OperationAborted", "ConditionalRequestConflict", "SlowDown")
_LASTING = ("NoSuchBucket", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied")
_METADATA = "169.254.169.254"  # of a cloud machine, asked for credentials when nothing else has any
_NO_CREDENTIALS = "no credentials found; S3 takes AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
_MEANINGS = {
    re.escape(_METADATA): _NO_CREDENTIALS,
    "Connection ?[Rr]efused": "nobody answers at the store's address",
    "dns error": "the store's host name is not known",
    "timed out|Timeout": "the store does not answer in time",
    "error sending request|connection": "the connection to the store broke",
    "PermissionDenied": "access denied: the credentials are wrong, or have no right to this bucket",
    "Unauthenticated": "access denied: the credentials are not accepted",
    "credentials": _NO_CREDENTIALS,
}
