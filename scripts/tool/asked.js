// What a command line of `npm test` asks for.
import { parseArgs } from 'node:util'

const options = {
  all: { type: 'boolean' }, short: { type: 'boolean' }, changed: { type: 'boolean' },
  since: { type: 'string' }, cell: { type: 'string' }, seed: { type: 'string' },
  seconds: { type: 'string' },
  'write-seconds': { type: 'boolean' },
}

/**
 * Reads the words after `npm test --`.
 * @param {readonly string[]} argv
 * @returns {{ files: readonly string[], whole: boolean, short: boolean, changed: boolean,
 *   since: string, cell: string | null, seed: number | null, seconds: number,
 *   writeSeconds: boolean }}
 *   `whole` names no file; `short` goes through slices of the tables, and, where it is whole,
 *   through what fits into `seconds` of a processor; `since` is what `changed` compares with
 * @throws {Error} for what it does not know, and for what does not go together
 */
export const askedBy = (argv) => {
  const { values, positionals: files } = parseArgs({
    args: [...argv], options, allowPositionals: true,
  })
  const changed = values.changed === true || values.since !== undefined
  const whole = files.length === 0 && !changed
  const wrong = wrongIn(values, files, changed)
  if (wrong !== undefined) throw new Error(wrong)
  return {
    files, whole, changed,
    short: values.short === true || (values.all !== true && (whole || changed)),
    since: values.since ?? 'HEAD', cell: values.cell ?? null,
    seed: values.seed === undefined ? null : Number(values.seed),
    seconds: values.seconds === undefined ? shortSeconds : Number(values.seconds),
    writeSeconds: values['write-seconds'] === true,
  }
}

const wrongIn = (values, files, changed) => {
  if (values.all === true && values.short === true) return '--all and --short: one of them'
  if (changed && files.length > 0) return '--changed finds the files itself'
  if (values.cell !== undefined && files.length !== 1) return '--cell needs the one FILE it is in'
  if (values.cell !== undefined && values.short === true) return '--cell runs one cell, not a slice'
  if (values.seed !== undefined && !isSeed(values.seed)) {
    return `--seed takes a whole number from 0 to ${seedMax}`
  }
  if (values.seconds !== undefined && !/^[1-9]\d{0,5}$/.test(values.seconds)) {
    return '--seconds takes a whole number from 1 to 999999'
  }
  if (values.seconds !== undefined && (values.all === true || changed || files.length > 0)) {
    return '--seconds is of npm test alone: what is named runs whole'
  }
  return undefined
}

/**
 * Processor seconds that a person waits for, with the build: on two cores, of which a sixth idles
 * while tests wait, they are five minutes.
 */
const shortSeconds = 490

/** Seeds are whole numbers up to this one. */
export const seedMax = 2 ** 31 - 1

const isSeed = (text) => /^\d+$/.test(text) && Number(text) <= seedMax
