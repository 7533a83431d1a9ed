/**
 * Lines of a crontab: one block between two marks, put behind whatever stands there and taken out
 * again. Pure, over bytes as latin1 text: what is not the block is not read, so that it comes back
 * byte for byte.
 */
import { fail } from '../../base/errors.js'
import { commandOf, wordsOf, type TimerJob, type TimerPlace } from './jobs.js'

const begin = (id: string): string => `# sallyport timers ${id} begin`
/** The same where the line before it had no end: that end belongs to the block. */
const beginAdded = (id: string): string => `${begin(id)} +`
const end = (id: string): string => `# sallyport timers ${id} end`

// In a crontab a percent sign ends the command.
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`.replaceAll('%', '\\%')

/** Throws `rejected` `timer_path`: crons differ in what they make of a backslash. */
const requireCronPaths = (jobs: readonly TimerJob[], place: TimerPlace): void => {
  if (!wordsOf(jobs, place).some((word) => word.includes('\\'))) return
  throw fail.rejected('timer_path', 'A path of the program or the state has a backslash.', {
    next: 'Crons read it in different ways; units of systemd can hold it.',
  })
}

/**
 * When a line runs that is to run every so many minutes, rounded to what a crontab can say; what
 * stays is started as cron itself is.
 */
export const scheduleOf = (minutes: number | null): string => {
  if (minutes === null) return '@reboot'
  if (minutes === 1) return '* * * * *'
  if (minutes < 60) return `*/${minutes} * * * *`
  const hours = Math.min(24, Math.round(minutes / 60))
  if (hours === 1) return '0 * * * *'
  return hours === 24 ? '0 0 * * *' : `0 */${hours} * * *`
}

/**
 * The lines, without the marks. What fails is told on stderr, which cron mails. Throws `rejected`
 * `timer_path`.
 */
export const cronLines = (jobs: readonly TimerJob[], place: TimerPlace): readonly string[] => {
  requireCronPaths(jobs, place)
  return jobs.map((job) =>
    [scheduleOf(job.minutes), ...commandOf(job, place).map(quoted), '>/dev/null'].join(' '))
}

const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
const textOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')

/** Where the block stands; null where none does. Throws `conflict` `crontab_altered`. */
const blockOf = (
  id: string, crontab: string,
): { readonly from: number; readonly to: number; readonly isAdded: boolean } | null => {
  const starts = [...crontab.matchAll(new RegExp(`^${begin(id)}( \\+)?$`, 'gm'))]
  const ends = [...crontab.matchAll(new RegExp(`^${end(id)}\n`, 'gm'))]
  const [[start], [stop]] = [starts, ends]
  if (start === undefined && stop === undefined) return null
  if (start === undefined || stop === undefined || starts.length + ends.length > 2
    || stop.index < start.index) {
    throw fail.conflict('crontab_altered', 'The lines of the timers were altered by hand.', {
      next: 'Nothing was changed. Take them out with `crontab -e`.',
    })
  }
  return { from: start.index, to: stop.index + stop[0].length, isAdded: start[1] !== undefined }
}

/** The lines of the block; null where there is none. Throws `conflict` `crontab_altered`. */
export const cronLinesOf = (id: string, crontab: string): readonly string[] | null => {
  const found = blockOf(id, crontab)
  if (found === null) return null
  return textOf(crontab.slice(found.from, found.to)).trim().split('\n').slice(1, -1)
}

/** The crontab without the block, everything else byte for byte. Throws as `cronLinesOf`. */
export const withoutBlock = (id: string, crontab: string): string => {
  const found = blockOf(id, crontab)
  if (found === null) return crontab
  const after = crontab.slice(found.to)
  // The end that the line before lacked goes with the block, unless a line has come behind it.
  const from = found.isAdded && after === '' ? found.from - 1 : found.from
  return crontab.slice(0, from) + after
}

/** The crontab with these lines at its end, in place of an earlier block. Throws alike. */
export const withBlock = (id: string, crontab: string, lines: readonly string[]): string => {
  const rest = withoutBlock(id, crontab)
  const isOpen = rest !== '' && !rest.endsWith('\n')
  const head = isOpen ? `\n${beginAdded(id)}` : begin(id)
  return `${rest}${[head, ...lines.map(bytesOf), end(id)].join('\n')}\n`
}
