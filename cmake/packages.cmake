# SPDX-License-Identifier: Apache-2.0
# cmake -D PYTHON=PROGRAM -D FOLDER=FOLDER -D CHECK=PYTHON -D REQUIREMENTS=FILE -P packages.cmake
#
# Installs the pinned Python packages of FILE into a virtual environment in FOLDER. It is complete if the
# import statement CHECK succeeds in it.
set(remedy "see to the network; ${REQUIREMENTS} lists them")
# of the user's settings for pip, in the environment or pip.conf, only the sources of packages apply: others
# may install elsewhere, or nothing. PIP_NO_INDEX is kept, because users without a network set it together
# with PIP_FIND_LINKS
set(install [=[
import ast, os, subprocess, sys
KEPT = """index-url extra-index-url find-links no-index trusted-host cert client-cert proxy timeout
default-timeout retries cache-dir no-cache-dir keyring-provider use-feature use-deprecated""".split()
variables = {each: f"PIP_{each.upper().replace('-', '_')}" for each in [*KEPT, "config-file"]}
pip = [sys.executable, "-I", "-m", "pip"]
env = {k: v for k, v in os.environ.items() if not k.startswith("PIP_") or k in variables.values() and v}
listed = subprocess.run([*pip, "config", "list"], env=env, capture_output=True, text=True).stdout
env = {"PIP_RETRIES": "1"} | env | {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
for section in ("global.", "install.", ":env:."):  # in the order in which pip lets them win
    for line in listed.splitlines():
        key, _, value = line.removeprefix(section).partition("=")
        if line.startswith(section) and key in KEPT:
            env[variables[key]] = str(ast.literal_eval(value))
sys.exit(subprocess.run([*pip, "install", "--quiet", "-r", sys.argv[1]], env=env).returncode)
]=])
execute_process(COMMAND ${PYTHON} -I -m venv --clear ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
set(wrong "cannot be fetched: ${remedy}")
foreach(words "-c;${install};${REQUIREMENTS}" "-c;${CHECK}")
  execute_process(COMMAND ${FOLDER}/bin/python -I ${words} RESULT_VARIABLE failed ERROR_VARIABLE said)
  if(failed)
    string(REGEX REPLACE ".*\n([^\n]+)\n*$" "\\1" said "\n${said}")
    message(FATAL_ERROR " Python packages ${wrong} (${said})")
  endif()
  set(wrong "were installed into ${FOLDER} and do not work there")
endforeach()
file(TOUCH ${FOLDER}/ready)
