/** Every place on a disk that the program writes to: what lies there, and whether it may go. */

/** A place. */
export interface DiskPlace {
  /** What it is, in a few words. */
  readonly name: string
  /** Where it lies unless a flag or variable says otherwise; `~` is the home folder. */
  readonly where: string
  /** The flags and variables that say otherwise; null for none. */
  readonly named: string | null
  /** What lies there, a sentence. */
  readonly what: string
  /** Whether it may be deleted, and what that costs, a sentence. */
  readonly deleting: string
}

/** The places, what must be kept before what may go. */
export const diskPlaces: readonly DiskPlace[] = [
  {
    name: 'state directory', where: '~/.local/state/sallyport',
    named: '--state-dir, --at, SALLYPORT_STATE_DIR, $XDG_STATE_HOME/sallyport',
    what: 'Everything that was decided, sent and answered, private content sealed.',
    deleting: 'Not by hand: `state destroy` ends it, and the proof of what was paid.',
  },
  {
    name: 'key folder', where: '~/.config/sallyport/keys',
    named: '--config-dir, --at, SALLYPORT_CONFIG_DIR, $XDG_CONFIG_HOME/sallyport',
    what: 'For each state the key that opens it, its anchor, and stops that wait.',
    deleting: 'Keep it: without the key nothing private in the state opens again.',
  },
  {
    name: 'names of states', where: '~/.config/sallyport/names.json',
    named: '$XDG_CONFIG_HOME/sallyport',
    what: 'Which folders a name of `at` stands for, and names.lock beside it.',
    deleting: 'It may go; the states stay, and are named anew.',
  },
  {
    name: 'capture device', where: '~/.local/state/sallyport-edge',
    named: 'SALLYPORT_EDGE_DIR, $XDG_STATE_HOME/sallyport-edge',
    what: 'Captures that wait, and the credential of the pairing.',
    deleting: 'It may go once nothing waits; the device is then paired anew.',
  },
  {
    name: 'workspace', where: '~/.local/share/sallyport',
    named: 'init --workspace, $XDG_DATA_HOME/sallyport',
    what: 'The default folder of screenshots, which is only read.',
    deleting: 'It is yours; nothing in it was written by this program.',
  },
  {
    name: 'compiled code', where: '~/.cache/sallyport', named: '$XDG_CACHE_HOME/sallyport',
    what: 'What newer Nodes keep to start faster, and the lock of timers.',
    deleting: 'It may go at any time.',
  },
  {
    name: 'units of systemd', where: '~/.config/systemd/user/sallyport-*',
    named: '$XDG_CONFIG_HOME/systemd/user',
    what: 'Timers and their services, from `timers install`.',
    deleting: 'Not by hand: `timers remove` stops them first.',
  },
  {
    name: 'agents of launchd', where: '~/Library/LaunchAgents/local.sallyport.*', named: null,
    what: 'Timers of a Mac, from `timers install`.',
    deleting: 'Not by hand: `timers remove` takes them out of launchd first.',
  },
  {
    name: 'block of the crontab', where: 'between two marks in your crontab', named: null,
    what: 'Lines of timers, from `timers install --with cron`.',
    deleting: 'Not by hand: `timers remove` leaves every other line as it is.',
  },
  {
    name: 'sandbox', where: '~/.local/state/sallyport-sandbox', named: 'sandbox --dir',
    what: 'A provider of your own machine, its certificate and what it was asked.',
    deleting: 'It may go once `sandbox stop` was typed.',
  },
  {
    name: 'demo', where: 'sallyport-demo-* in the folder for temporary files', named: 'TMPDIR',
    what: 'A state of made-up content, and its keys.',
    deleting: 'It may go at any time.',
  },
  {
    name: 'logs', where: '~/Library/Logs/sallyport', named: null,
    what: 'On a Mac what timers say on stderr. Elsewhere nothing is logged to a file.',
    deleting: 'It may go with the agents: `timers remove` takes both.',
  },
]
