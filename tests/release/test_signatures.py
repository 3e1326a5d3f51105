"""A signed release: every change is found, and OpenSSH agrees."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from random import Random
from string import ascii_lowercase, ascii_uppercase, digits

import pytest

import privmine as pm
from privmine.errors import InputError
from privmine.release.signatures import signature_path

ALPHABET = f"{ascii_uppercase}{ascii_lowercase}{digits}+/"
BASKETS = [["bread", "milk"], ["bread"], ["milk", "tea"]] * 30


def make_key(target: Path, kind: str = "ed25519", password: str = "") -> Path:
    """A key pair as `ssh-keygen` would make it, by the library."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    private = {
        "ed25519": ed25519.Ed25519PrivateKey.generate,
        "rsa": lambda: rsa.generate_private_key(65537, 2048),
        "ecdsa": lambda: ec.generate_private_key(ec.SECP256R1()),
    }[kind]()
    lock = serialization.BestAvailableEncryption(password.encode()) if password else serialization.NoEncryption()
    openssh = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    target.write_bytes(private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, lock))
    target.with_suffix(".pub").write_bytes(private.public_key().public_bytes(*openssh) + b" officer\n")
    return target


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path / "key")


@pytest.fixture
def release(tmp_path: Path) -> Path:
    target = tmp_path / "release.json"
    pm.mine(BASKETS, 4, 1, output=target)
    return target


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
@pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet", ".xlsx"])
def test_an_unchanged_release(tmp_path: Path, kind: str, suffix: str) -> None:
    """Every format can be signed, by either kind of key; the signer is named."""
    key, target = make_key(tmp_path / "key", kind), tmp_path / f"release{suffix}"
    pm.mine(BASKETS, 4, 1, output=target)
    before = target.read_bytes()
    assert pm.sign(target, key) == [signature_path(target)]
    assert pm.signed_by(target, tmp_path / "key.pub") == "officer"
    assert target.read_bytes() == before


def test_a_thousand_changes(release: Path, key: Path) -> None:
    """Of 1,000 random changes of the file, a label, a count or the signature, none is missed."""
    random = Random("signatures")  # noqa: S311
    pm.sign(release, key)
    signature = signature_path(release)
    whole, signed = release.read_bytes(), signature.read_bytes()
    # The part of the signature that counts: its lines can be broken elsewhere.
    inner = [place for place, byte in enumerate(signed[30:-30], start=30) if byte != ord("\n")]
    missed = []
    for trial in range(1000):
        content, proof = bytearray(whole), bytearray(signed)
        document = json.loads(whole)
        row = random.choice(document["itemsets"])
        kind = trial % 5
        if kind == 0:  # a count
            row["count"] += random.choice([-1, 1, 0.5, 1000])
            content = bytearray(json.dumps(document).encode())
        elif kind == 1:  # a label
            row["items"][0] += random.choice([" ", "s", "\u200b"])
            content = bytearray(json.dumps(document).encode())
        elif kind == 2:  # a byte
            content[random.randrange(len(content))] ^= random.randrange(1, 256)
        elif kind == 3:  # cut, or longer
            content = (
                content[: random.randrange(len(content))] if trial % 2 else content + b" " * random.randrange(1, 9)
            )
        else:  # the signature
            proof[random.choice(inner)] ^= 1 << random.randrange(7)
        release.write_bytes(content)
        signature.write_bytes(proof)
        try:
            pm.signed_by(release, key.with_suffix(".pub"))
            missed.append(trial)
        except InputError:
            pass
    assert missed == []
    release.write_bytes(whole)
    signature.write_bytes(signed)
    assert pm.signed_by(release, key.with_suffix(".pub")) == "officer"


def test_bits_of_a_signature_that_mean_nothing(release: Path, key: Path) -> None:
    """Base64 ends with bits that decoders skip: a signature in which they are set was changed as well."""
    signature = pm.sign(release, key)[0]
    signed = signature.read_text()
    before, last, after = re.fullmatch(r"(.*)([AQgw])(==\n-----END.*)", signed, re.DOTALL).groups()
    for other in ALPHABET[ALPHABET.index(last) + 1 :][:15]:
        signature.write_text(before + other + after)
        with pytest.raises(InputError, match="not a signature of a release"):
            pm.signed_by(release, key.with_suffix(".pub"))
    signature.write_text(signed)
    assert pm.signed_by(release, key.with_suffix(".pub")) == "officer"


def test_a_plain_release_is_signed_with_its_receipt(tmp_path: Path, key: Path) -> None:
    """A change of the rows and one of the receipt beside them are both found."""
    target = tmp_path / "release.csv"
    pm.mine(BASKETS, 4, 1, output=target, plain=True)
    assert len(pm.sign(target, key)) == 2
    pm.signed_by(target, key.with_suffix(".pub"))
    receipt = tmp_path / "release.receipt.json"
    receipt.write_text(receipt.read_text().replace("exact", "EXACT"))
    with pytest.raises(InputError, match=r"release\.receipt\.json was changed"):
        pm.signed_by(target, key.with_suffix(".pub"))


def test_the_receipt_of_another_release(tmp_path: Path, key: Path) -> None:
    """Its own signature is valid, but it belongs to other counts: a large ε would pass for a small one."""
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    items = pm.read(BASKETS, items=["bread", "milk", "tea"])
    for target, seed in ((one, 1), (other, 2)):
        pm.mine(items, 7, 1, simulate=True, seed=seed, output=target, plain=True)
        pm.sign(target, key)
        assert pm.signed_by(target, tmp_path / "key.pub") == "officer"
    for suffix in (".receipt.json", ".receipt.json.sig"):
        shutil.copy(other.with_suffix(suffix), one.with_suffix(suffix))
    with pytest.raises(InputError, match="not of one release"):
        pm.signed_by(one, tmp_path / "key.pub")


@pytest.mark.parametrize("name", ["release.CSV", "release.txt"])
def test_a_receipt_beside_any_plain_file_is_checked(tmp_path: Path, key: Path, name: str) -> None:
    """What is read with a receipt is verified with it, however the file is called."""
    plain, target = tmp_path / "release.csv", tmp_path / name
    pm.mine(BASKETS, 4, 1, output=plain, plain=True)
    plain.rename(target)
    assert len(pm.sign(target, key)) == 2
    receipt = tmp_path / "release.receipt.json"
    receipt.write_text(receipt.read_text().replace("one transaction", "One transaction"))
    with pytest.raises(InputError, match="was changed"):
        pm.signed_by(target, tmp_path / "key.pub")


@pytest.mark.parametrize("limit", ['namespaces="git,file"', 'valid-before="20200101"', "cert-authority"])
def test_a_key_with_limits_is_not_trusted(release: Path, key: Path, tmp_path: Path, limit: str) -> None:
    """OpenSSH would refuse it, or look at a clock; a key for releases is fine."""
    public = " ".join((tmp_path / "key.pub").read_text().split()[:2])
    signers = tmp_path / "allowed"
    pm.sign(release, key)
    signers.write_text(f"officer {limit} {public}\n")
    with pytest.raises(InputError, match=r"no public key in .* that may sign"):
        pm.signed_by(release, signers)
    signers.write_text(f'officer namespaces="git,privmine" {public}\n')
    assert pm.signed_by(release, signers) == "officer"


def test_refusals(release: Path, key: Path, tmp_path: Path) -> None:
    """No signature, another signer, what is no key: a sentence each."""
    with pytest.raises(InputError, match="has no signature"):
        pm.signed_by(release, key.with_suffix(".pub"))
    pm.sign(release, key)
    make_key(tmp_path / "other")
    with pytest.raises(InputError, match="not among those that you trust"):
        pm.signed_by(release, tmp_path / "other.pub")
    for wrong in (key, release, tmp_path / "nothing"):
        with pytest.raises(InputError, match=r"no public key|cannot be read"):
            pm.signed_by(release, wrong)
    for wrong in (key.with_suffix(".pub"), release):
        with pytest.raises(InputError, match="not a private key"):
            pm.sign(release, wrong)
    with pytest.raises(InputError, match="cannot be read"):
        pm.sign(release, tmp_path / "nothing")
    with pytest.raises(InputError, match="Ed25519 and RSA"):
        pm.sign(release, make_key(tmp_path / "curve", "ecdsa"))


def test_a_key_with_a_password(release: Path, tmp_path: Path) -> None:
    """It is needed, and a wrong one does not sign."""
    key = make_key(tmp_path / "locked", password="open")  # noqa: S106 - of a key that only this test has
    with pytest.raises(InputError, match="has a password"):
        pm.sign(release, key)
    with pytest.raises(InputError, match="password is wrong"):
        pm.sign(release, key, "shut")
    assert pm.sign(release, key, "open")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
def test_openssh_agrees(release: Path, key: Path, tmp_path: Path) -> None:
    """What privmine signs `ssh-keygen` verifies, and the other way round."""
    pm.sign(release, key)
    allowed = tmp_path / "allowed"
    allowed.write_text(f"officer@example.org {key.with_suffix('.pub').read_text()}")
    check = ["ssh-keygen", "-Y", "verify", "-f", allowed, "-I", "officer@example.org", "-n", "privmine", "-s"]
    done = subprocess.run(
        [*check, signature_path(release)], input=release.read_bytes(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert pm.signed_by(release, allowed) == "officer@example.org"
    signature_path(release).unlink()
    key.chmod(0o600)
    subprocess.run(["ssh-keygen", "-Y", "sign", "-n", "privmine", "-f", key, release], check=True, capture_output=True)
    assert pm.signed_by(release, allowed) == "officer@example.org"
    signature_path(release).unlink()
    subprocess.run(["ssh-keygen", "-Y", "sign", "-n", "file", "-f", key, release], check=True, capture_output=True)
    with pytest.raises(InputError, match="not a signature of a release"):
        pm.signed_by(release, allowed)
