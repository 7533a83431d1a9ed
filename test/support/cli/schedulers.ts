/** Stand-ins for the programs that timers need: systemctl, loginctl, crontab and sendmail. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { linux } from '../../../src/base/platform/linux.js'
import type { Place, RunOptions } from '../../world/place.js'

/**
 * What a machine has of them, on a PATH of its own; each program writes down how it was called.
 * Gives the options of runs that find them.
 */
export const schedulers = (place: Place, { systemd }: { readonly systemd: boolean }) => {
  const [bin, log, tab] = [join(place.dir, 'bin'), join(place.dir, 'calls'), join(place.dir, 'tab')]
  mkdirSync(bin, { recursive: true })
  const program = (name: string, body: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >> '${log}'\n${body}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  program('systemctl', systemd ? `case "$*" in *"$SYSTEMCTL_FAILS"*) exit 1 ;; esac` : 'exit 1')
  program('loginctl', 'echo Linger=no')
  program('sendmail', 'cat > /dev/null')
  program('crontab', `case "$1" in
-l) [ -f '${tab}' ] && cat '${tab}' || { echo "no crontab for me" >&2; exit 1; } ;;
-r) rm -f '${tab}' ;;
-) cat > '${tab}' ;;
esac`)
  const home = join(place.dir, 'home')
  return {
    tab,
    program,
    units: join(home, '.config/systemd/user'),
    options: {
      system: linux,
      env: {
        PATH: `${bin}:/usr/bin:/bin`, XDG_CONFIG_HOME: 'relative', SALLYPORT_SESSION: '',
        SYSTEMCTL_FAILS: 'never',
      },
    } satisfies RunOptions,
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
  }
}
