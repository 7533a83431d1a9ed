/** Showing and saving the settings of the screenshots. */
import { existsSync } from 'node:fs'
import { Argument, Option, type Command } from 'commander'
import { fail } from '../../../base/errors.js'
import { parseStrictJson } from '../../../base/strict-json.js'
import {
  devicesText, egressText, ignoreText, overrideNote, renewText, saveShotsConfig,
  settingsBytesMax, showShotsConfig, startsIgnoring, startsRenewing, widensEgress, type ShotsConfig,
} from '../../../shots/source/config.js'
import { namedNow } from '../../../shots/captures/naming.js'
import { shotsConfig, shotsSetup } from '../../../shots/source/source-contract.js'
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

/** Flags that save; the settings' own flags besides. */
interface SaveOptions {
  readonly from?: string
  readonly unset?: readonly string[]
  readonly [flag: string]: unknown
}

/** The same behind the word that says what is to be done. */
interface ShotsConfigOptions extends SaveOptions { readonly action: string }

const depthMax = 3

const documentOf = async (options: SaveOptions, deps: VerbDeps): Promise<unknown> => {
  const { from, ...flags } = options
  const named = Object.keys(flags).length
  if (from !== undefined && named > 0) {
    throw fail.usage('several_sources', 'Only --from is given where it is given.', {
      next: 'The document of --from stands alone.',
    })
  }
  if (from === undefined) return named === 0 ? null : changeOfFlags(flags)
  const bytes = await readInput(deps, { from, flag: '--from', bytesMax: settingsBytesMax })
  return parseStrictJson(bytes, { bytesMax: settingsBytesMax, depthMax })
}

const show = async (deps: VerbDeps): Promise<ShotsConfig> => {
  const { gov } = await deps.login()
  return shotsConfig.answer(showShotsConfig(shotsContext(deps, gov), gov.store.read()))
}

const set = async (options: SaveOptions, deps: VerbDeps): Promise<ShotsConfig> => {
  const given = await documentOf(options, deps)
  if (given === null) {
    if (deps.interactive) {
      const { saveByForm } = await import('./config-form.js')
      return shotsConfig.answer(await saveByForm(deps))
    }
    throw fail.usage('nothing_to_save', 'Name what to save.', {
      next: 'Flags and an example: `sallyport shots setup --help`.',
    })
  }
  // Before anything is written, recovery included, the change must be of its shape.
  const change = parseSettingsChange(given)
  const { gov, session } = await workFor(deps, 'mutate')
  const ctx = shotsContext(deps, gov)
  const [before, named] = [savedSettings(gov.store.read()), namedNow(ctx, gov.store.read())]
  let saved: Pick<ShotsConfig, 'requests'> = {}
  if (Object.keys(change).length > 0) {
    saved = await saveShotsConfig(ctx, session, given)
    for (const line of sentBeforeLines(saved.requests ?? [])) deps.note(line)
    if (widensEgress(before, change)) deps.note(paragraph(deps, egressText))
    if (namedNow(ctx, gov.store.read()).some((id) => !named.includes(id))) {
      deps.note(paragraph(deps, devicesText))
    }
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

/** The settings in force: what `shots show` prints where nothing is named. */
export const settings: VerbRecord<object, ShotsConfig> = {
  summary: 'every setting with its value in force and where it comes from',
  description:
    'Prints every setting with its value in force and where it comes from (environment, settings, '
    + 'default), and what the gateway slots own.',
  examples: ['$ sallyport shots show'],
  json: shotsConfig,
  text: configText,
  run: (_line, deps) => show(deps),
}

/** The flags that save: one for each setting, and those that name several. */
const savingFlags = (command: Command): Command => addSettingFlags(command)
  .addOption(offered(
    new Option('--unset <setting...>', 'forget saved settings, named as they are shown'),
    settingNames,
  ))
  .option('--from <file>', 'settings as JSON, named as they are shown; - for stdin')

export const setup: VerbRecord<SaveOptions, ShotsConfig> = {
  summary: 'save folder, analysis controls, budget and job settings, or fill them in',
  description:
    'Saves what its flags name and leaves the rest. A folder that is too broad is refused, and '
    + 'nothing is saved then. The controls (fallbacks, data collection, zdr, budget) have no '
    + 'default that opens anything. `gateway setup` changes what the gateway slots own. Areas that '
    + '--ignore names do not count when two images are compared, so a clock makes no new image '
    + 'each minute. They hide nothing, an image is sent as it is. Each is for one screen size; '
    + 'without it, that of the newest image. --devices lets what paired devices upload from '
    + 'then on leave as well, under the consent to gateway.vision of now: see `sallyport edge '
    + 'list`. Each use replaces the whole list; devices paired later are not included. '
    + 'Without a flag, on a terminal, it is a form: Enter keeps what is saved, and the change is '
    + 'shown before it is saved.',
  examples: [
    '$ sallyport shots setup',
    '$ sallyport shots setup --folder /home/me/Pictures/Screenshots',
    '$ sallyport shots setup --analysis on --cloud-upload on --fallbacks deny '
      + '--data-collection deny --zdr on --budget 0.50usd --budget-requests 200 '
      + '--request-cost-bound 0.02usd --analysis-job-timeout-seconds 120',
    '$ sallyport shots setup --ignore 1920x1080:1800,0,120,40 --ignore 1920x1080:0,0,80,20',
    '$ sallyport shots setup --no-ignore 1920x1080:0,0,80,20',
    '$ sallyport shots setup --devices all',
    '$ sallyport shots setup --from settings.json --json',
  ],
  exits: ['rejected', 'conflict', 'blocked', 'locked'],
  json: shotsSetup,
  flags: savingFlags,
  text: configText,
  run: async (options, deps) => {
    if (Object.keys(options).length > 0) return set(options, deps)
    const { saveByForm } = await import('./config-form.js')
    return shotsConfig.answer(await saveByForm(deps))
  },
}

/** The older name of both, which says by a word which of them is meant. */
export const config: VerbRecord<ShotsConfigOptions, ShotsConfig> = {
  summary: 'show or save folder, analysis controls, budget and job settings',
  description: '`show` is `shots show`, `set` is `shots setup`, with all of its flags.',
  examples: ['$ sallyport shots show', '$ sallyport shots setup --analysis off'],
  exits: ['rejected', 'conflict', 'blocked', 'locked'],
  json: shotsConfig,
  flags: (command) => savingFlags(command.addArgument(
    offered(new Argument('<action>', 'set or show'), ['set', 'show']))),
  text: configText,
  run: async ({ action, ...options }, deps) => {
    if (action === 'set') return set(options, deps)
    if (action !== 'show') {
      throw fail.usage('config_action', 'Say what to do with the settings: set or show.')
    }
    if (Object.keys(options).length > 0) {
      throw fail.usage('show_flags', 'Showing takes no flags.', {
        next: 'How to save: `sallyport shots setup --help`.',
      })
    }
    return show(deps)
  },
}
