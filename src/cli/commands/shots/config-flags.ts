/** Flags of `shots setup`: one per setting, named as the setting is. */
import { Option, type Command } from 'commander'
import { fail } from '../../../base/errors.js'
import { shotLimits as limits } from '../../../shots/constants.js'
import type { ShotSettingsChange } from '../../../shots/source/settings.js'
import { choiceFlag, integerFlag, moneyFlag, offered, olderFlag } from '../../flags.js'
import { flagWords } from '../../typed.js'

type Field = Exclude<keyof ShotSettingsChange, undefined>

interface SettingFlag {
  readonly flag: string
  readonly field: Field
  readonly text: string
  /** Words it takes, or the range of its integer. */
  readonly takes: readonly string[] | { readonly min: number; readonly max: number }
  /** Words on and off stand for true and false. */
  readonly boolean?: boolean
  /** Named by `--set` today; its own flag is an older name. */
  readonly rare?: true
}

const onOff = ['on', 'off'] as const
const controls = ['deny', 'allow'] as const
const range = (max: number) => ({ min: 1, max })
const dayMinutes = 1_440

/** Every flag but `--folder`, in the order of help. */
const settingFlags: readonly SettingFlag[] = [
  {
    flag: '--recursive', field: 'recursive', takes: onOff, boolean: true,
    text: `folders below too, to depth ${limits.recursiveDepthMax}; no link is followed`,
  },
  { flag: '--analysis', field: 'analysis', takes: onOff, text: 'have images analysed' },
  { flag: '--cloud-upload', field: 'cloud_upload', takes: onOff, text: 'let images leave' },
  {
    flag: '--fallbacks', field: 'fallbacks', takes: controls,
    text: 'routing fallbacks; anything but deny blocks analysis',
  },
  {
    flag: '--data-collection', field: 'data_collection', takes: controls,
    text: 'data collection upstream; anything but deny blocks analysis',
  },
  {
    flag: '--zdr', field: 'zdr', takes: onOff,
    text: 'zero data retention; anything but on blocks analysis',
  },
  {
    flag: '--renew-proof', field: 'renew_proof', takes: onOff,
    text: 'let jobs renew a proof before it is a day old, paid from the budget of the day',
  },
  {
    flag: '--reuse', field: 'reuse', takes: onOff,
    text: 'reuse the text of an image for its repeats, unpaid; on unless off',
  },
  {
    flag: '--settle-seconds', field: 'settle_seconds',
    takes: { min: limits.settleSecondsMin, max: limits.settleSecondsMax },
    text: 'while a region keeps changing, send one image in so many seconds',
  },
  {
    flag: '--key-alone', field: 'key_alone', takes: onOff,
    text: 'only this state uses the gateway key: read its usage around passes',
  },
  {
    flag: '--budget-microusd', field: 'budget_microusd', takes: range(1_000_000_000),
    text: 'spend over a rolling day',
  },
  {
    flag: '--budget-requests', field: 'budget_requests', takes: range(1_000_000),
    text: 'requests over a rolling day',
  },
  {
    flag: '--request-cost-bound-microusd', field: 'request_cost_bound_microusd',
    takes: range(1_000_000_000), text: 'hold for one image',
  },
  {
    rare: true, flag: '--visual-run-refresh-minutes', field: 'visual_run_refresh_minutes',
    takes: range(limits.visualRunRefreshMinutesMax),
    text: 'after this long a run of like images gets a new representative',
  },
  {
    rare: true, flag: '--ingest-enabled', field: 'ingest_enabled', takes: onOff, boolean: true,
    text: 'the ingest job',
  },
  {
    rare: true, flag: '--ingest-interval-minutes', field: 'ingest_interval_minutes',
    takes: range(dayMinutes), text: 'between its turns',
  },
  {
    rare: true, flag: '--ingest-limit', field: 'ingest_limit', takes: range(limits.ingestImagesMax),
    text: 'new files of one turn',
  },
  {
    rare: true, flag: '--analysis-limit', field: 'analysis_limit',
    takes: range(limits.analysisItemsMax),
    text: 'images of one analysis',
  },
  {
    rare: true, flag: '--analysis-concurrency', field: 'analysis_concurrency',
    takes: range(limits.concurrencyMax), text: 'images of one scheduled turn',
  },
  {
    rare: true, flag: '--analysis-interval-seconds', field: 'analysis_interval_seconds',
    takes: range(86_400), text: 'between turns of the analysis job',
  },
  {
    flag: '--analysis-job-timeout-seconds', field: 'analysis_job_timeout_seconds',
    takes: range(limits.analysisTimeoutSecondsMax), text: 'longest wait for one image',
  },
  {
    rare: true, flag: '--digest-enabled', field: 'digest_enabled', takes: onOff, boolean: true,
    text: 'the digest job',
  },
  {
    rare: true, flag: '--digest-interval-minutes', field: 'digest_interval_minutes',
    takes: range(dayMinutes), text: 'between its turns',
  },
  {
    rare: true, flag: '--digest-window-minutes', field: 'digest_window_minutes',
    takes: range(dayMinutes),
    text: 'length of a window',
  },
  {
    rare: true, flag: '--digest-max-chars', field: 'digest_max_chars', takes: range(100_000),
    text: 'longest digest, in Unicode code points',
  },
]

/** What `--ignore` and `--no-ignore` say, in turn; the latter without an area takes back all. */
interface AreaStep {
  readonly word: 'add' | 'remove' | 'clear'
  readonly area: string
}

/** What was said before; commander has false where all were taken back. */
const stepsOf = (said: unknown): readonly AreaStep[] =>
  said === false ? [{ word: 'clear', area: '' }] : (said ?? []) as readonly AreaStep[]

const areaFlag = (flags: string, text: string, word: AreaStep['word']): Option =>
  new Option(flags, text).argParser((area: string, said: unknown): readonly AreaStep[] =>
    [...stepsOf(said), { word, area }])

/** The change that the areas of a line name. */
const changeOfAreas = (said: unknown): Record<string, unknown> => {
  const steps = stepsOf(said)
  const named = (word: AreaStep['word']): string[] =>
    steps.filter((step) => step.word === word).map(({ area }) => area)
  const [add, remove] = [named('add'), named('remove')]
  return {
    ...(named('clear').length === 0 ? {} : { ignore: null }),
    ...(remove.length === 0 ? {} : { remove_ignore: remove }),
    ...(add.length === 0 ? {} : { add_ignore: add }),
  }
}

const optionOf = ({ flag, text, takes }: SettingFlag): Option => {
  if (!('min' in takes)) return choiceFlag(`${flag} <word>`, text, takes)
  return flag.endsWith('microusd')
    ? moneyFlag(`${flag} <n>`, text, takes) : integerFlag(`${flag} <n>`, text, takes)
}

const rare = settingFlags.filter((one) => one.rare === true)

/** The rare settings with what each takes, as help lists them. */
const rareTexts = rare.map(({ field, text, takes }) =>
  `${field} (${'min' in takes ? `${takes.min} to ${takes.max}` : takes.join(', ')}: ${text})`)

/** `--set NAME=VALUE…`: each value is judged as by the flag of its own that it had. */
const setFlag = (): Option => offered(
  new Option('--set <setting...>', `rarer settings, as NAME=VALUE: ${rareTexts.join('; ')}`),
  rare.map(({ field }) => `${field}=`),
).argParser((given: string, said: unknown): Readonly<Record<string, unknown>> => {
  const [, name, text = ''] = /^([a-z_]+)=(.*)$/s.exec(given) ?? []
  const one = rare.find(({ field }) => field === name)
  if (one === undefined) {
    throw fail.rejected('flag_invalid', 'Flag --set takes NAME=VALUE of a rarer setting.', {
      details: { field: '--set', rule: 'choice' },
    })
  }
  return { ...said as object, [one.field]: optionOf(one).parseArg?.(text, undefined) }
})

const devicesWords = ['all', 'none']

/** `--devices`: ids, or a word; a device that is paired later is never meant. */
const devicesFlag = (): Option => offered(new Option('--devices <device...>',
  'let what these paired devices upload from now on leave, too: their ids, all or none'),
devicesWords)

/** The devices that a line names. Throws `rejected` for a word beside ids. */
const changeOfDevices = (said: readonly string[] | undefined): Record<string, unknown> => {
  if (said === undefined) return {}
  const [word] = said.filter((one) => devicesWords.includes(one))
  if (word === undefined) return { devices: said }
  if (said.length > 1) {
    throw fail.rejected('flag_invalid', 'Flag --devices takes ids, or all, or none alone.', {
      details: { field: '--devices', rule: 'choice' },
    })
  }
  return { devices: word === 'all' ? 'all' : null }
}

export const addSettingFlags = (command: Command): Command => {
  command.option('--folder <dir>', 'the image folder: an absolute path of a folder of its own')
  for (const one of settingFlags) {
    const option = optionOf(one)
    command.addOption(one.rare === true ? olderFlag(option, `--set ${one.field}=VALUE`) : option)
  }
  return command
    .addOption(setFlag())
    .addOption(devicesFlag())
    .addOption(areaFlag('--ignore <area...>',
      'what does not count when images are compared: WIDTHxHEIGHT:X,Y,W,H in pixels', 'add'))
    .addOption(areaFlag('--no-ignore [area...]',
      'have these areas count again; all of them where none is named', 'remove'))
}

const camel = (flag: string): string =>
  flag.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

const wordOf = (value: unknown): string =>
  (typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value))

export const flagsOfChange = (change: Readonly<Record<string, unknown>>): readonly string[] => [
  ...[{ flag: '--folder', field: 'screenshot_folder', rare: false }, ...settingFlags].flatMap(
    ({ flag, field, rare: isRare }) => {
      if (!(field in change)) return []
      const word = wordOf(change[field])
      return isRare === true ? ['--set', `${field}=${word}`] : flagWords(flag, word)
    }),
  ...Array.isArray(change['devices']) ? ['--devices', ...change['devices'].map(String)] : [],
]

/** Settings that `--unset` takes. */
export const settingNames: readonly string[] =
  ['screenshot_folder', ...settingFlags.map(({ field }) => field), 'devices', 'ignore']

const requireSetting = (name: string): void => {
  if (settingNames.includes(name)) return
  const names = settingNames.join(', ')
  throw fail.rejected('flag_invalid', `Flag --unset takes names of settings: ${names}.`, {
    details: { field: '--unset', rule: 'choice' },
  })
}

/** The change that the flags of a line name. Throws `rejected` for an unknown name to unset. */
export const changeOfFlags = (options: Readonly<Record<string, unknown>>): object => {
  const change: Record<string, unknown> = {}
  if (options['folder'] !== undefined) change['screenshot_folder'] = options['folder']
  const set = (options['set'] ?? {}) as Readonly<Record<string, unknown>>
  for (const { flag, field, boolean } of settingFlags) {
    const value = options[camel(flag)] ?? set[field]
    if (value !== undefined) change[field] = boolean === true ? value === 'on' : value
  }
  Object.assign(change, changeOfAreas(options['ignore']))
  Object.assign(change, changeOfDevices(options['devices'] as readonly string[] | undefined))
  const unset = (options['unset'] ?? []) as readonly string[]
  for (const name of unset) {
    requireSetting(name)
    change[name] = null
  }
  return change
}
