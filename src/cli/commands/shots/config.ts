/** `sallyport shots config set|show`. */
import { existsSync } from 'node:fs'
import { Argument, Option } from 'commander'
import { fail } from '../../../base/errors.js'
import { parseStrictJson } from '../../../base/strict-json.js'
import {
  egressText, ignoreText, overrideNote, renewText, saveShotsConfig, settingsBytesMax,
  showShotsConfig, startsIgnoring, startsRenewing, widensEgress, type ShotsConfig,
} from '../../../shots/source/config.js'
import { shotsConfig } from '../../../shots/source/source-contract.js'
import { parseSettingsChange, savedSettings } from '../../../shots/source/settings.js'
import { offered } from '../../flags.js'
import { readInput } from '../../input.js'
import { paragraph } from '../../output.js'
import { sentBeforeLines } from '../../sent-before.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'
import { addSettingFlags, changeOfFlags, settingNames } from './config-flags.js'
import { configText } from './config-text.js'
import { shotsContext } from '../../../fabric/contexts/shots.js'

/** Arguments and flags of `shots config`; the settings' own flags besides. */
interface ShotsConfigOptions {
  readonly action: string
  readonly from?: string
  readonly unset?: readonly string[]
  readonly [flag: string]: unknown
}

const depthMax = 3

const documentOf = async (
  options: ShotsConfigOptions, deps: VerbDeps,
): Promise<unknown> => {
  const { action, from, ...flags } = options
  const named = Object.keys(flags).length
  if (from !== undefined && named > 0) {
    throw fail.usage('several_sources', `Only --from goes with \`${action}\` when it is given.`, {
      next: 'The document of --from stands alone.',
    })
  }
  if (from === undefined) return named === 0 ? null : changeOfFlags(flags)
  const bytes = await readInput(deps, { from, flag: '--from', bytesMax: settingsBytesMax })
  return parseStrictJson(bytes, { bytesMax: settingsBytesMax, depthMax })
}

const show = async (options: ShotsConfigOptions, deps: VerbDeps): Promise<ShotsConfig> => {
  if (Object.keys(options).length > 1) {
    throw fail.usage('show_flags', 'Showing takes no flags.', {
      next: 'How to save: `sallyport shots config set --help`.',
    })
  }
  const { gov } = await deps.login()
  return shotsConfig.answer(showShotsConfig(shotsContext(deps, gov), gov.store.read()))
}

const set = async (options: ShotsConfigOptions, deps: VerbDeps): Promise<ShotsConfig> => {
  const given = await documentOf(options, deps)
  if (given === null) {
    if (deps.interactive) {
      const { saveByForm } = await import('./config-form.js')
      return shotsConfig.answer(await saveByForm(deps))
    }
    throw fail.usage('nothing_to_save', 'Name what to save.', {
      next: 'Flags and an example: `sallyport shots config set --help`.',
    })
  }
  // Before anything is written, recovery included, the change must be of its shape.
  const change = parseSettingsChange(given)
  const { gov, session } = await workFor(deps, 'mutate')
  const ctx = shotsContext(deps, gov)
  const before = savedSettings(gov.store.read())
  let saved: Pick<ShotsConfig, 'requests'> = {}
  if (Object.keys(change).length > 0) {
    saved = await saveShotsConfig(ctx, session, given)
    for (const line of sentBeforeLines(saved.requests ?? [])) deps.note(line)
    if (widensEgress(before, change)) deps.note(paragraph(deps, egressText))
    if (startsRenewing(before, change)) deps.note(paragraph(deps, renewText))
    if (startsIgnoring(change)) deps.note(paragraph(deps, ignoreText))
    const { screenshot_folder: folder } = change
    if (typeof folder === 'string' && !existsSync(folder)) {
      deps.note(`The folder is not there yet: ${folder}`)
    }
    const override = overrideNote(ctx, change)
    if (override !== null) deps.note(override)
  }
  return shotsConfig.answer(showShotsConfig(ctx, gov.store.read(), saved))
}

export const config: VerbRecord<ShotsConfigOptions, ShotsConfig> = {
  summary: 'show or save folder, analysis controls, budget and job settings',
  description:
    '`show` prints every setting with its value in force and where it comes from (environment, '
    + 'settings, default). It prints what the gateway slots own, too: model, upstream hosts, key, '
    + 'ceiling and consents, which `gateway setup` changes. `set` saves what its flags name and '
    + 'leaves the rest; a folder that is too broad is refused and nothing is saved then. The '
    + 'controls (fallbacks, data collection, zdr, budget) have no default that opens anything. '
    + 'Areas that --ignore names do not count when two images are compared, so a clock makes no '
    + 'new image each minute. They hide nothing, an image is sent as it is. They are of one screen '
    + 'size; without it, of that of the newest image. Without a flag, on a terminal, `set` is the '
    + 'form of `shots setup`.',
  examples: [
    '$ sallyport shots config show',
    '$ sallyport shots config set --folder /home/me/Pictures/Screenshots',
    '$ sallyport shots config set --analysis on --cloud-upload on --fallbacks deny '
      + '--data-collection deny --zdr on --budget-microusd 500000 --budget-requests 200 '
      + '--request-cost-bound-microusd 20000 --analysis-job-timeout-seconds 120',
    '$ sallyport shots config set --ignore 1920x1080:1800,0,120,40 --ignore 1920x1080:0,0,80,20',
    '$ sallyport shots config set --no-ignore 1920x1080:0,0,80,20',
    '$ sallyport shots config set --from settings.json --json',
  ],
  exits: ['rejected', 'conflict', 'locked'],
  json: shotsConfig,
  flags: (command) => {
    const action = offered(new Argument('<action>', 'set or show'), ['set', 'show'])
    return addSettingFlags(command.addArgument(action))
      .addOption(offered(
        new Option('--unset <setting...>', 'forget saved settings, named as `show` names them'),
        settingNames,
      ))
      .option('--from <file>', 'settings as JSON, named as `show --json` names them; - for stdin')
  },
  text: configText,
  run: async (options, deps) => {
    if (options.action === 'show') return show(options, deps)
    if (options.action === 'set') return set(options, deps)
    throw fail.usage('config_action', 'Say what to do with the settings: set or show.')
  },
}
