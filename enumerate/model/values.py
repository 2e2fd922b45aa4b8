"""Single values of a request: what cannot be one is refused before anything is tried."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal

from .errors import BadRequest

LOCAL, AUTO = "local", "auto"  # addresses of a Ray cluster, beside host:port
OBJECT_STORES = ("s3", "gs", "az", "abfs", "abfss")


def one_of(name: str, word: str, choices: tuple[str, ...]) -> None:
    if word not in choices:
        known = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise BadRequest(f"{name} must be {known}, got {word!r}{hint(word, choices)}")


def in_range(name: str, value: float, low: float, high: float, meaning: str = "") -> None:
    if not low <= value <= high:
        number, end = ("a number", f"{high:g}") if isinstance(high, float) else ("a whole number", f"{high:,}")
        more = f" ({meaning})" if meaning else ""
        raise BadRequest(f"{name} must be {number} from {low:g} to {end}{more}, got {shown(value)}")


def hint(word: str, choices: Mapping[str, object] | tuple[str, ...]) -> str:
    """'; did you mean ...?' for a word close to one of the choices, else nothing."""
    close = difflib.get_close_matches(word.replace("_", "-"), choices, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def shown(value: object) -> str:
    """A value as an error shows it; Python refuses to print numbers of many thousand digits."""
    try:
        return repr(value)
    except ValueError:
        return "a number with too many digits"


def parse_whole(text: str, name: str = "") -> int:
    """`500000`, `500_000`, `500,000`, `500k`, `5M` or `1e6`; `name` is that of a setting, for the error."""
    text = text.replace(",", "") if re.fullmatch(r"[0-9]{1,3}(,[0-9]{3}){1,12}", text.strip()) else text
    match = re.fullmatch(r"([+-]?[0-9][0-9_]{0,40}(?:\.[0-9]{1,20})?(?:e[0-9]{1,2})?)([kMGT]?)", text.strip())
    number = Decimal(match[1]).scaleb(3 * " kMGT".index(match[2] or " ")) if match else Decimal("0.5")
    if number != int(number):
        must_be = f"{name} must be" if name else "expected"
        raise BadRequest(f"{must_be} a whole number such as 500000, 500k or 1e6, got {text!r}")
    return int(number)


def parse_bytes(text: str) -> int:
    """`64MiB`, `1.5 GB`, or a number of bytes."""
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*(?:([kmgt]?)(i?)b)?", text.strip().lower())
    if not match:
        raise BadRequest(f"expected a size such as 512MiB or 2GB, got {text!r}")
    number, unit, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** "_kmgt".index(unit or "_"))


_MOST_TOML = 10_000_000  # bytes


def read_toml(path: str) -> dict[str, object]:
    """The keys of a config file. Unknown ones are found by `search.strategy.resolve`."""
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST_TOML + 1)
        if len(content) > _MOST_TOML:
            raise BadRequest(f"the config file is too large: {path!r}")
        return tomllib.loads(content.decode())
    except OSError as error:
        raise BadRequest(f"cannot read the config file: {path!r} ({error.strerror})") from None
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or absurd numbers and depths
        raise BadRequest(f"the config file is not valid TOML: {path!r} ({error})") from None


def refuse_strange_output(output: str) -> None:
    """A folder or an address that cannot be one, before anything is tried."""
    refuse_no_text(output, "output")
    if re.match(rf"({'|'.join(OBJECT_STORES)}):(?!//)", output):
        raise BadRequest(f"an address has two slashes after its colon: {output!r}; a folder is ./{output}")
    if "://" in output:
        refuse_strange_url(output)


def refuse_no_text(word: str, name: str = "") -> None:
    """What no path and no name may have."""
    if "\0" in word or (not word.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in word)):
        must_be = f"{name} must be" if name else "expected"
        raise BadRequest(f"{must_be} text in UTF-8 without zero bytes, got {word!r}")


def refuse_strange_address(address: str) -> None:
    """An address that cannot be one, before anything is tried."""
    if address.startswith("ray://"):
        raise BadRequest(
            f"Ray's client protocol is not supported: {address!r};"
            " run this on a machine of the cluster with --address auto, or give host:port of its head"
        )
    host, _, port = address.rpartition(":")
    is_port = port.isascii() and port.isdigit() and 0 < int(port) < 65_536
    if address not in (LOCAL, AUTO) and not (host and "/" not in host and is_port):
        raise BadRequest(f"address must be auto, local or host:port, got {address!r}")


def refuse_strange_url(output: str) -> None:
    """An address that cannot be one, before anything is tried. Credentials in it are not repeated in the error."""
    scheme, _, rest = output.partition("://")
    if scheme not in OBJECT_STORES:
        raise BadRequest(
            f"output must be a folder or an address that begins with {', '.join(OBJECT_STORES)}://,"
            f" got {scheme + '://'!r}"
        )
    if "@" in rest or "?" in rest:
        raise BadRequest(f"output must be {scheme}://bucket/run alone; put credentials into the environment")
    if not rest.split("/")[0]:
        raise BadRequest(f"output names no bucket: {output!r}")
    bucket, *names = rest.rstrip("/").split("/")
    plain = all(
        name not in ("", ".", "..") and re.fullmatch(r"(?!\s)[^\x00-\x1f\x7f\\#%]+(?<!\s)", name) for name in names
    )
    if not re.fullmatch(r"[\w.-]+", bucket) or not plain:  # else two addresses could mean one output
        raise BadRequest(f"output must be {scheme}://bucket/run, with plain names between the slashes, got {output!r}")
