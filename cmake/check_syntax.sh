#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_syntax.sh BUILD JOBS TARGET: every C file of a configured build (Ninja), tests and benchmarks
# included, through its compiler's front end, once, but those of TARGET, which has been built. No code is
# made. Fails if any file has an error. clang reads files of the same flags one after the other in one process:
# to start it takes as long as to read a file. The headers of standard C that most files include, more than half of what
# it reads, are read once (a precompiled header); a file that forgets one does not pass gcc, which compiles the same files.
# Headers with POSIX's names are not among them: files that do without may call a function of theirs read or select.
set -eu
cd "$1"
printf '#include <%s.h>\n' math stdbool stddef stdint stdio string >syntax_headers.h
ninja -t commands "$3" | sed -n 's/.* -c \([^ ]*\)$/\1/p' >syntax_known
sed -n 's/^ *"command": "\(.*\)",$/\1/p' compile_commands.json | sed 's/\\\(.\)/\1/g' |
    awk 'NR == FNR { known[$0]; next } !($NF in known) { known[$NF]; print }' syntax_known - |
    awk '{ file = $NF; sub(/ -o [^ ]* -c [^ ]*$/, ""); sets[$0] = sets[$0] " " file
           if (++n[$0] % 40 == 0) { print $0 "\n" sets[$0]; sets[$0] = "" } }
         END { for (flags in sets) if (sets[flags] != "") print flags "\n" sets[flags] }' | tr '\n' '\0' |
    xargs -0 -r -P "$2" -n 2 sh -c '
        front=$(eval "$0 -fsyntax-only -### $1" 2>&1 | grep -m 1 " \"-cc1\" ") || { eval "$0 -fsyntax-only $1"; exit; }
        known=$(mktemp -p .)
        trap "rm -f $known" EXIT
        if [ "${1#* * * * * }" != "$1" ] && eval "$0 -x c-header -o $known syntax_headers.h" 2>/dev/null; then
            front="${front% *} \"-include-pch\" $known x"
        fi
        eval "${front% *} $1"'
