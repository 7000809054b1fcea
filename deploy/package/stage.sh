#!/bin/bash
# Stages what every package holds: PREFIX-free, relocatable, stripped.
#
#   stage.sh ROOT STAGE
#
# STAGE gets bin/ (programs), lib/ (their libraries), libexec/ (py-spy), share/ (documents, units,
# examples, hooks, man pages, completions) and libraries.tsv (file, Debian package, version), which
# is no part of a package. Fails if anything needs a newer C or C++ library than the oldest target
# has.
set -euo pipefail
root=$1
stage=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Not bundled: what belongs to the C library, and the C++ runtime, of which every target has one
# that is new enough. A second copy beside the system's would be loaded twice.
readonly of_the_target='^(ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl|libstdc\+\+|libgcc_s)\.so'
readonly newest_glibc=2.34
readonly newest_glibcxx=3.4.30

cmake --install "$root/build/release" --prefix "$stage" --strip >/dev/null
mkdir -p "$stage/lib"

# dpkg knows a file below /lib or below /usr/lib, as its package was made.
package_of() {
  local real
  real=$(realpath "$1")
  { dpkg-query --search "$real" 2>/dev/null || dpkg-query --search "${real#/usr}" 2>/dev/null ||
    true; } | cut -d: -f1 | head -1
}

# The libraries of all programs, each once, by the name under which it is looked up.
for program in "$stage"/bin/*; do
  ldd "$program"
done | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' | sort -u |
  while read -r name path; do
    [[ $name =~ $of_the_target ]] && continue
    cp -L "$path" "$stage/lib/$name"
    chmod 644 "$stage/lib/$name"
    package=$(package_of "$path")
    [ -n "$package" ] || { echo "stage.sh: no Debian package holds $path" >&2 && exit 1; }
    # shellcheck disable=SC2016 # the format is dpkg-query's
    printf '%s\t%s\n' "$name" \
      "$(dpkg-query --show --showformat='${Package}\t${Version}\t${source:Package}\n' "$package")"
  done >"$stage/libraries.tsv"
[ -s "$stage/libraries.tsv" ] || { echo "stage.sh: the programs have no libraries?" >&2 && exit 1; }
for program in "$stage"/bin/*; do patchelf --set-rpath "\$ORIGIN/../lib" "$program"; done
for library in "$stage"/lib/*; do patchelf --set-rpath "\$ORIGIN" "$library"; done

# The licences of what is bundled, as Debian collects them.
mkdir -p "$stage/share/doc/rapideye/licenses"
cut -f2 "$stage/libraries.tsv" | sort -u | while read -r package; do
  cp -L "/usr/share/doc/$package/copyright" "$stage/share/doc/rapideye/licenses/$package"
done

"$here/py-spy.sh" "$stage"

find "$stage"/bin "$stage"/lib "$stage"/libexec -type f -print0 |
  xargs -0 /usr/bin/python3 "$here/symbols.py" --glibc="$newest_glibc" --glibcxx="$newest_glibcxx"

# From --help, of the programs as they were staged: whether they start is seen here, too.
mkdir -p "$stage/share/man/man1" "$stage/share/bash-completion/completions"
for program in "$stage"/bin/*; do
  name=$(basename "$program")
  help2man --no-info --no-discard-stderr --section=1 "$program" |
    gzip -9n >"$stage/share/man/man1/$name.1.gz"
done
/usr/bin/python3 "$here/completions.py" "$stage/bin" "$here/../../tests/docs" \
  >"$stage/share/bash-completion/completions/rapideye"
for name in rapideye-agent rapideye-coordinator; do
  ln -s rapideye "$stage/share/bash-completion/completions/$name"
done
