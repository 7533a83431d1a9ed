/** `sallyport shots scan`: takes in what is new in the image folder. */
import { fail } from '../../../base/errors.js'
import { parseStrictJson } from '../../../base/strict-json.js'
import { shotLimits } from '../../../shots/constants.js'
import type { ScanReceipt } from '../../../shots/receipts/scan.js'
import { shotsScan } from '../../../shots/scan/contract.js'
import { parseScanInput, type ScanInput } from '../../../shots/scan/input.js'
import { otherFolderNote } from '../../../shots/scan/other-folder.js'
import { integerFlag } from '../../flags.js'
import { readInput } from '../../input.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'
import { withJobs } from './open.js'
import { scanReceiptText } from './scan-text.js'

/** Flags of `shots scan`. */
export interface ScanVerbOptions {
  readonly folder?: string
  readonly limit?: number
  readonly from?: string
}

const inputBytesMax = 65_536
const inputDepthMax = 2

const inputOf = async (options: ScanVerbOptions, deps: VerbDeps): Promise<ScanInput> => {
  const { folder, limit, from } = options
  if (from === undefined) {
    return parseScanInput({
      ...(folder === undefined ? {} : { screenshot_folder: folder }),
      ...(limit === undefined ? {} : { limit }),
    })
  }
  if (folder !== undefined || limit !== undefined) {
    throw fail.usage('several_sources', 'Give --from alone, or flags.')
  }
  const bytes = await readInput(deps, { from, flag: '--from', bytesMax: inputBytesMax })
  return parseScanInput(
    parseStrictJson(bytes, { bytesMax: inputBytesMax, depthMax: inputDepthMax }))
}

export const scan: VerbRecord<ScanVerbOptions, ScanReceipt> = {
  summary: 'take in what is new in the image folder',
  description:
    'Looks at every .png, .jpg and .jpeg file of the folder, reads each new one once and writes '
    + 'one observation per new image. Same bytes are a duplicate; what looks the same as the '
    + 'image before it is suppressed. Nothing in the folder is changed, nothing is sent '
    + 'anywhere and no model is asked. The receipt counts every file once: looked at = ingested '
    + '+ duplicate + suppressed + rejected + deferred. Known files are not read again and do '
    + 'not count towards the limit. Another folder than the configured one (--folder, or '
    + 'screenshot_folder of --from) is a folder of its own: until it is the configured one, its '
    + 'observations are stale_root, so they are not analysed and in no digest or report, and '
    + 'clear-stale archives them. To have them count, save the folder first: shots config set '
    + '--folder DIR.',
  examples: [
    '$ sallyport shots scan',
    '$ sallyport shots scan --folder /srv/shots --limit 500',
    "$ echo '{\"limit\": 20}' | sallyport shots scan --from - --json",
  ],
  session: 'none',
  damage: 'refuses',
  exits: ['rejected', 'no_state', 'locked', 'damaged', 'cancelled'],
  json: shotsScan,
  flags: (command) => command
    .option('--folder <dir>', 'this folder for once; its observations are stale (see above)')
    .addOption(integerFlag(
      '--limit <n>',
      `new files to read; ingest_limit of the settings, else ${shotLimits.ingestImagesDefault}`,
      { min: 1, max: shotLimits.ingestImagesMax },
    ))
    .option('--from <file>', 'input as JSON {screenshot_folder?, limit?}; - for stdin'),
  text: scanReceiptText,
  run: async (options, deps) => {
    const input = await inputOf(options, deps)
    const { scanFolder } = await import('../../../shots/scan/scan.js')
    const receipt = await withJobs(deps, async (ctx) => {
      const scanned = await scanFolder(ctx, {
        ...(input.screenshot_folder === undefined ? {} : { folder: input.screenshot_folder }),
        ...(input.limit === undefined ? {} : { limit: input.limit }),
      })
      const note = otherFolderNote(ctx, scanned)
      if (note !== null) deps.note(note)
      return scanned
    })
    return shotsScan.answer(receipt)
  },
}
