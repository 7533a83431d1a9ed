/** Scanning the folder: once, or whenever something changes in it. */
import { toldDocument } from '../../../base/told-document.js'
import { fail } from '../../../base/errors.js'
import { parseStrictJson } from '../../../base/strict-json.js'
import { shotLimits } from '../../../shots/constants.js'
import type { ScanReceipt } from '../../../shots/receipts/scan.js'
import { shotsScan } from '../../../shots/scan/scan-contract.js'
import { parseScanInput, type ScanInput } from '../../../shots/scan/input.js'
import { otherFolderNote } from '../../../shots/scan/other-folder.js'
import { shotsWatch, type WatchEvent } from '../../../shots/watch/watch-contract.js'
import { integerFlag } from '../../flags.js'
import { readInput } from '../../input.js'
import { writeJsonLine, writeLine } from '../../output.js'
import { visibleLine } from '../../text.js'
import { verb, type VerbRecord, type VerbDeps } from '../../verb.js'
import { withJobs } from './open.js'

const scanCountsLine = (receipt: ScanReceipt): string =>
  `${receipt.scanned} looked at: ${receipt.ingested} ingested, ${receipt.duplicate} duplicate `
  + `(${receipt.known} known), ${receipt.suppressed} suppressed, ${receipt.rejected} rejected, `
  + `${receipt.deferred} deferred`

const reasonLines = ({ reasons }: ScanReceipt): string[] =>
  Object.entries(reasons).sort().map(([reason, files]) => `  ${reason}: ${files}`)

const problemLines = ({ problems, problems_left_out: more }: ScanReceipt): string[] => [
  ...problems.map((one) => `  ${visibleLine(one.name.text)}: ${one.reason}`),
  ...(more > 0 ? [`  and ${more} more`] : []),
]

const smallLines = ({ small_changes: small }: ScanReceipt): string[] => {
  if (small === undefined) return []
  const where = small.area === null ? ''
    : `; ${small.area_images} of this folder in ${small.area}, to be left out with`
  return [
    `changed in one small area only: ${small.images}${where}`,
    ...small.next.map(({ command }) => `  ${command}`),
  ]
}

const scanReceiptText = (receipt: ScanReceipt): string => {
  const problems = problemLines(receipt)
  const reasons = reasonLines(receipt)
  return [
    visibleLine(receipt.root),
    scanCountsLine(receipt),
    ...(reasons.length > 0 ? ['by reason:', ...reasons] : []),
    ...smallLines(receipt),
    ...(problems.length > 0 ? ['files to look at:', ...problems] : []),
    receipt.recorded ? `receipt ${receipt.receipt_id ?? ''}` : 'nothing new was written',
    '',
  ].join('\n')
}

interface ScanVerbOptions {
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
    'Looks at every .png, .jpg and .jpeg file of the folder, reads each new one once and '
    + 'writes one observation per new image. Same bytes are a duplicate; what looks the same '
    + 'as the image before it is suppressed. Nothing in the folder is changed, nothing is sent '
    + 'anywhere and no model is asked. The receipt counts every file once: looked at = '
    + 'ingested + duplicate + suppressed + rejected + deferred. Known files are not read again '
    + 'and do not count towards the limit. Another folder than the configured one (--folder, '
    + 'or screenshot_folder of --from) is a folder of its own. Until it is the configured one, '
    + 'its observations are stale_root. They are not analysed and in no digest or report, and '
    + 'clear-stale archives them. To have them count, save the folder first: shots setup '
    + '--folder DIR. After the folder it takes in what paired devices stored; the '
    + 'receipt does not count that.',
  examples: [
    '$ sallyport shots scan',
    '$ sallyport shots scan --folder /srv/shots --limit 500',
    "$ echo '{\"limit\": 20}' | sallyport shots scan --from - --json",
  ],
  session: 'none',
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
    const [{ scanFolder }, { withCaptures }] = await Promise.all([
      import('../../../shots/scan/scan.js'), import('../../../shots/captures/take-in.js'),
    ])
    const receipt = await withJobs(deps, (ctx) => withCaptures(ctx, async () => {
      const scanned = await scanFolder(ctx, {
        ...(input.screenshot_folder === undefined ? {} : { folder: input.screenshot_folder }),
        ...(input.limit === undefined ? {} : { limit: input.limit }),
      })
      const note = otherFolderNote(ctx, scanned)
      if (note !== null) deps.note(note)
      return scanned
    }))
    return shotsScan.answer(receipt)
  },
}

const tickLine = (receipt: ScanReceipt): string =>
  `${receipt.at} ${scanCountsLine(receipt)}`
  + (receipt.status === 'degraded' ? `; degraded: ${receipt.reason ?? 'unknown'}` : '')

const say = (deps: VerbDeps, told: WatchEvent, text: string): void => {
  deps.progress.clear()
  if (!deps.globals.json) return writeLine(deps, text)
  writeJsonLine(deps, toldDocument(shotsWatch.document(told), shotsWatch.output, deps.carried))
}

export const watch = verb(shotsWatch, {
  summary: 'take in new screenshots as they appear',
  description:
    'Follows the configured folder and takes a finished file in within two seconds. Notices '
    + 'of the system only say when to look. The look itself is a scan, as `shots scan` makes '
    + 'one, and a slow one comes in any case. The folder may be removed, made again and '
    + 'renamed meanwhile. One line for each tick that changed something. It stays in the '
    + 'foreground until Ctrl-C or SIGTERM and then ends with status 0. It analyses nothing: '
    + 'see `shots run`.',
  examples: ['$ sallyport shots run --watch', '$ sallyport shots run --watch --json'],
  session: 'none',
  exits: ['rejected', 'blocked', 'no_state', 'locked', 'damaged'],
  text: () => 'stopped\n',
  run: async (_request, deps) => {
    const { watchFolder } = await import('../../../shots/watch/watch.js')
    await withJobs(deps, (ctx) => watchFolder(ctx, {
      ready: ({ folder }) =>
        say(deps, { event: 'watching', folder }, `watching ${visibleLine(folder)}`),
      tick: (receipt) => say(deps, { event: 'tick', receipt }, tickLine(receipt)),
      trouble: (error) => say(deps, { event: 'trouble', error }, error.message),
    }), 'job')
    return { event: 'stopped' as const }
  },
})
