#!/usr/bin/env python3
"""Builds everything that is released for one platform, from local files alone: the archive for the installers, packages for npm,
and a wheel. The same inputs give the same bytes.

    packages/dist.py --programs target/release [--addon packages/node/stan.node] --out dist [--platform linux-x64]

Standard library only, no network. Publishing is somebody else's decision.
"""

import argparse, base64, gzip, hashlib, io, json, platform, re, sys, tarfile, zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = ["stan", "x07"]
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
# platform: (npm's os, npm's cpu, tag of wheels)
PLATFORMS = {
    "linux-x64": ("linux", "x64", "manylinux_{glibc}_x86_64"),
    "linux-arm64": ("linux", "arm64", "manylinux_{glibc}_aarch64"),
    "darwin-x64": ("darwin", "x64", "macosx_11_0_x86_64"),
    "darwin-arm64": ("darwin", "arm64", "macosx_11_0_arm64"),
}


def this_platform():
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system())
    machine = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine())
    return f"{system}-{machine}"


def tar_gz(entries):
    """entries: name -> (bytes, mode), in any order."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(entries):
            data, mode = entries[name]
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = len(data), mode, 0
            tar.addfile(info, io.BytesIO(data))
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, compresslevel=9, filename="") as out:
        out.write(plain.getvalue())
    return packed.getvalue()


def npm_package(manifest, files):
    entries = {f"package/{name}": entry for name, entry in files.items()}
    entries["package/package.json"] = (json.dumps(manifest, indent=2).encode() + b"\n", 0o644)
    return tar_gz(entries)


def npm_file(name, version):
    return f"{name.lstrip('@').replace('/', '-')}-{version}.tgz"


def main_package(folder, version):
    """The package in `folder` as it is, with the version of this release."""
    manifest = json.loads((folder / "package.json").read_text())
    manifest["version"] = version
    manifest["optionalDependencies"] = {name: version for name in manifest["optionalDependencies"]}
    manifest.pop("scripts", None)
    files = {}
    for listed in manifest["files"]:
        path = folder / listed
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            mode = 0o755 if file.parent.name == "bin" else 0o644
            files[file.relative_to(folder).as_posix()] = (file.read_bytes(), mode)
    return manifest["name"], npm_package(manifest, files)


def platform_package(base, target, version, files, main=None):
    system, cpu, _ = PLATFORMS[target]
    manifest = {
        "name": f"{base}-{target}", "version": version, "license": "Apache-2.0 OR MIT",
        "description": f"Part of {base.split('-')[0]} for {target}.", "os": [system], "cpu": [cpu],
    }
    if system == "linux":
        manifest["libc"] = ["glibc"]
    if main:
        manifest["main"] = main
    return manifest["name"], npm_package(manifest, files)


def newest_glibc(program):
    """The newest version of glibc that a program asks for, as a wheel's tag has it; at least 2.17."""
    found = {(2, 17)} | {(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", program)}
    return "%d_%d" % max(found)


def wheel(target, version, programs):
    tag = PLATFORMS[target][2].format(glibc=newest_glibc(programs["stan"]))
    name, tag = f"stan_context-{version}", f"py3-none-{tag}"
    files = {f"{name}.data/scripts/{program}": (data, 0o755) for program, data in programs.items()}
    metadata = (
        f"Metadata-Version: 2.1\nName: stan-context\nVersion: {version}\n"
        "Summary: The context engine for coding assistants\nLicense: Apache-2.0 OR MIT\n"
    )
    files[f"{name}.dist-info/METADATA"] = (metadata.encode(), 0o644)
    files[f"{name}.dist-info/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: stan\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)
    for licence in LICENCES:
        files[f"{name}.dist-info/licenses/{licence}"] = ((HERE.parent / licence).read_bytes(), 0o644)
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record = [f"{path},sha256={digest(data)},{len(data)}" for path, (data, _) in sorted(files.items())]
    record.append(f"{name}.dist-info/RECORD,,")
    files[f"{name}.dist-info/RECORD"] = ("\n".join(record).encode() + b"\n", 0o644)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(files):
            data, mode = files[path]
            info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            info.external_attr, info.compress_type, info.create_system = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED, 3
            archive.writestr(info, data)
    return f"{name}-{tag}.whl", out.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=Path, required=True, help="folder with stan and x07")
    parser.add_argument("--addon", type=Path, help="the addon of Node; without it no package for Node is made")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--platform", default=this_platform(), choices=sorted(PLATFORMS))
    options = parser.parse_args()
    target, root = options.platform, HERE.parent
    version = re.search(r'^version = "([^"]+)"', (root / "Cargo.toml").read_text(), re.M).group(1)
    programs = {name: (options.programs / name).read_bytes() for name in PROGRAMS}
    licences = {name: ((root / name).read_bytes(), 0o644) for name in LICENCES}

    made = {}
    folder = f"stan-{target}"
    archive = {f"{folder}/{name}": (data, 0o755) for name, data in programs.items()}
    archive |= {f"{folder}/{name}": entry for name, entry in licences.items()}
    made[f"{folder}.tar.gz"] = tar_gz(archive)
    packages = [main_package(HERE / "npm", version)]
    in_bin = {f"bin/{name}": (data, 0o755) for name, data in programs.items()}
    packages.append(platform_package("@stan/cli", target, version, in_bin | licences))
    if options.addon:
        packages.append(main_package(HERE / "node", version))
        addon = {"stan.node": (options.addon.read_bytes(), 0o644)}
        packages.append(platform_package("@stan/context", target, version, addon | licences, "stan.node"))
    made |= {npm_file(name, version): data for name, data in packages}
    name, data = wheel(target, version, programs)
    made[name] = data

    options.out.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        (options.out / name).write_bytes(data)
    sums = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(made.items())]
    (options.out / f"SHA256SUMS-{target}").write_text("".join(sums))
    for name, data in sorted(made.items()):
        print(f"{len(data):>10}  {name}")


if __name__ == "__main__":
    sys.exit(main())
