"""Signatures of release files, by an SSH key of the user: whoever has the public key can tell that nothing was changed.

The signature is a file of its own beside the release, in the format of OpenSSH ("SSHSIG"). So `ssh-keygen -Y sign` and
`ssh-keygen -Y verify` make and check the same signatures, and a key may be one that somebody has already. Nothing is
encrypted or hashed by own means: `cryptography` does it.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from pathlib import Path
from typing import Any

from attrs import frozen

from privmine.errors import InputError, PrivmineError
from privmine.extras import import_extra
from privmine.files import written
from privmine.printable import printable
from privmine.release.release_files import load
from privmine.release.spreadsheets import beside

#: What a signature of a release is for, so that one of something else cannot be taken for it.
NAMESPACE = "privmine"
_MAGIC = b"SSHSIG"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_KEY = re.compile(r"(?:^|\s)(ssh-[a-z0-9-]+|ecdsa-[a-z0-9-]+|sk-\S+)\s+(AAAA[A-Za-z0-9+/=]+)(?:\s+(.*))?$")
_PURPOSE = "Signatures need"
#: The one option of OpenSSH's allowed signers that is understood: what a key may sign, if that has releases among it.
_PURPOSES = re.compile(rf'namespaces="(?:[^",]*,)*{NAMESPACE}(?:,[^",]*)*"', re.IGNORECASE)
#: Files that hold their receipt themselves.
_WHOLE = (".json", ".parquet", ".xlsx")
#: The hash of the file that a signature is of. OpenSSH writes the first.
_HASHES = {"sha512": "SHA512", "sha256": "SHA256"}


@frozen
class Signer:
    """Somebody whose signatures are trusted: a public key, and what the file of keys calls it."""

    key: bytes
    name: str


def signature_path(path: Path) -> Path:
    """Where the signature of a file is."""
    return path.with_name(path.name + ".sig")


def sign(path: Path, key: Path, password: str | None = None) -> list[Path]:
    """Sign a release file, and the receipt beside it if it has one; returns the signatures.

    Args:
        path: the file.
        key: a private key as `ssh-keygen -t ed25519` makes it.
        password: that of the key, if it has one.
    """
    private = _private_key(key, password)
    made = []
    for file in _files(path):
        target = signature_path(file)
        with written(target, public=True) as out:
            out.write(_signature(private, _content(file)))
        made.append(target)
    return made


def signed_by(path: Path, signers: Path) -> str:
    """Check the signature of a release file, and of the receipt beside it, and tell whose it is.

    Args:
        path: the file.
        signers: public keys, one a line, as in a .pub file or in OpenSSH's file of allowed signers.

    Raises:
        InputError: there is no signature, it is of no key that is trusted, or the file was changed.
    """
    known = read_signers(signers)
    files = _files(path)
    names = [_check(file, known) for file in files]
    if len(files) > 1:
        _refuse_another_receipt(path)
    return names[0]


def _refuse_another_receipt(path: Path) -> None:
    """Refuse a plain CSV beside which somebody put the receipt of another release, which has its own signature."""
    try:
        load(path)
    except PrivmineError:
        pass
    else:
        return
    raise InputError(f"{path} and the receipt beside it are signed, but not of one release. Do not rely on them.")


def read_signers(path: Path) -> list[Signer]:
    """Read public keys."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError):
        raise InputError(f"The public keys in {path} cannot be read. Name a .pub file, or a list of them.") from None
    found = []
    for line in lines:
        match = None if line.lstrip().startswith("#") else _KEY.search(line.strip())
        if match is not None:
            try:
                key = base64.b64decode(match[2], validate=True)
            except binascii.Error:
                continue
            before = line.strip()[: match.start(1)].split()
            if not all(map(_PURPOSES.fullmatch, before[1:])):
                continue  # a limit that cannot be checked here, such as a date
            found.append(Signer(key, printable(before[0] if before else match[3] or path.name)))
    if not found:
        raise InputError(
            f"There is no public key in {path} that may sign releases. Name the .pub file of the signer, not the "
            "private key or a release. A key with a limit such as valid-before or cert-authority is not used."
        )
    return found


def _files(path: Path) -> list[Path]:
    receipt = beside(path)
    # Whatever is read as a CSV is read with the receipt beside it.
    return [path, receipt] if path.suffix.lower() not in _WHOLE and receipt.exists() else [path]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def _private_key(path: Path, password: str | None) -> Any:
    ssh = import_extra("cryptography.hazmat.primitives.serialization.ssh", _PURPOSE)
    content = _content(path)
    try:
        return ssh.load_ssh_private_key(content, None if password is None else password.encode())
    except Exception as error:  # noqa: BLE001 - each kind of key has its own errors
        kind = type(error).__name__
        # What says so differs between versions of the library.
        locked = isinstance(error, TypeError) or (password is None and "password" in str(error).lower())
    if locked:
        raise InputError(f"The key {path} has a password, or has none although one was given.")
    raise InputError(
        f"{path} is not a private key that can be used ({kind}), or its password is wrong. Make one with `ssh-keygen "
        "-t ed25519`, and name the file without .pub."
    )


def _signature(private: Any, content: bytes) -> bytes:
    serialization = import_extra("cryptography.hazmat.primitives.serialization", _PURPOSE)
    public = private.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    kind, encoded = public.split()[:2]
    message = _message(content, NAMESPACE.encode(), b"sha512")
    if kind == b"ssh-ed25519":
        algorithm, raw = kind, private.sign(message)
    elif kind == b"ssh-rsa":
        algorithm, raw = b"rsa-sha2-512", private.sign(message, *_rsa("SHA512"))
    else:
        raise InputError("Only keys of the kinds Ed25519 and RSA can sign. Make one with `ssh-keygen -t ed25519`.")
    parts = (base64.b64decode(encoded), NAMESPACE.encode(), b"", b"sha512", _string(algorithm) + _string(raw))
    blob = _MAGIC + struct.pack(">I", 1) + b"".join(map(_string, parts))
    text = base64.b64encode(blob).decode()
    lines = [text[start : start + 70] for start in range(0, len(text), 70)]
    return "\n".join([_BEGIN, *lines, _END, ""]).encode()


def _check(path: Path, known: list[Signer]) -> str:
    target = signature_path(path)
    if not target.exists():
        raise InputError(
            f"{path} has no signature: there is no {target.name}. Ask whoever made the release for it; `privmine sign` "
            "writes one."
        )
    key, algorithm, raw, message = _parsed(target, _content(path))
    name = next((signer.name for signer in known if signer.key == key), None)
    if name is None:
        raise InputError(f"{path} is signed, but by a key that is not among those that you trust. Do not rely on it.")
    if not _is_valid(key, algorithm, raw, message):
        raise InputError(f"{path} was changed after it was signed, or its signature was. Do not rely on it.")
    return name


def _parsed(target: Path, content: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """The parts of a signature, and what it must be of."""
    try:
        text = target.read_text(encoding="ascii").strip()
        if not (text.startswith(_BEGIN) and text.endswith(_END)):
            raise ValueError
        encoded = "".join(text[len(_BEGIN) : -len(_END)].split())
        blob = base64.b64decode(encoded, validate=True)
        # A decoder skips the last bits, so that other letters could stand there.
        if base64.b64encode(blob).decode() != encoded or blob[:10] != _MAGIC + struct.pack(">I", 1):
            raise ValueError
        key, namespace, reserved, digest, signature = _strings(blob[10:])
        algorithm, raw = _strings(signature)
        if namespace != NAMESPACE.encode() or reserved or digest.decode() not in _HASHES:
            raise ValueError
    except (OSError, ValueError, struct.error):
        raise InputError(
            f"{target} is not a signature of a release. Sign it with `privmine sign`, or `ssh-keygen -Y sign -n "
            f"{NAMESPACE}`."
        ) from None
    return key, algorithm, raw, _message(content, namespace, digest)


def _is_valid(key: bytes, algorithm: bytes, raw: bytes, message: bytes) -> bool:
    ssh = import_extra("cryptography.hazmat.primitives.serialization.ssh", _PURPOSE)
    errors = import_extra("cryptography.exceptions", _PURPOSE)
    kind = _strings(key)[0]
    allowed = {b"ssh-ed25519": ("",), b"ssh-rsa": ("SHA512", "SHA256")}.get(kind)
    named = {b"ssh-ed25519": "", b"rsa-sha2-512": "SHA512", b"rsa-sha2-256": "SHA256"}.get(algorithm)
    if allowed is None or named not in allowed:
        raise InputError("Only signatures by keys of the kinds Ed25519 and RSA can be checked here.")
    public = ssh.load_ssh_public_key(kind + b" " + base64.b64encode(key))
    try:
        public.verify(raw, message, *(_rsa(named) if named else ()))
    except errors.InvalidSignature:
        return False
    return True


def _rsa(digest: str) -> tuple[Any, Any]:
    padding = import_extra("cryptography.hazmat.primitives.asymmetric.padding", _PURPOSE)
    hashes = import_extra("cryptography.hazmat.primitives.hashes", _PURPOSE)
    return padding.PKCS1v15(), getattr(hashes, digest)()


def _message(content: bytes, namespace: bytes, digest: bytes) -> bytes:
    hashes = import_extra("cryptography.hazmat.primitives.hashes", _PURPOSE)
    made = hashes.Hash(getattr(hashes, _HASHES[digest.decode()])())
    made.update(content)
    return _MAGIC + b"".join(map(_string, (namespace, b"", digest, made.finalize())))


def _string(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def _strings(blob: bytes) -> list[bytes]:
    """Strings with their lengths before them, to the last byte."""
    found = []
    while blob:
        (length,) = struct.unpack(">I", blob[:4])
        if len(blob) < 4 + length:
            raise ValueError
        found.append(blob[4 : 4 + length])
        blob = blob[4 + length :]
    return found
