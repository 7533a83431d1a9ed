/**
 * Searches bytes for private text, also where it was encoded. A mark is a short word in plain ASCII
 * that a test puts into everything private (question, answer, key, reply); none may ever be found.
 */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const alignments = [0, 1, 2] as const

/**
 * What stands in base64 wherever the mark begins within its group of three bytes: the characters
 * that depend on nothing but the mark.
 */
const base64Cores = (mark: string): string[] => alignments.map((shift) => {
  const whole = Buffer.from('\0'.repeat(shift) + mark).toString('base64').replace(/=+$/, '')
  const ends = (shift + mark.length) % 3 === 0 ? whole.length : whole.length - 1
  return whole.slice(Math.ceil((shift * 4) / 3), ends)
})

const doubled = (mark: string, to: (byte: string) => string): string =>
  [...Buffer.from(mark)].map((byte) => to(byte.toString(16).padStart(2, '0'))).join('')

/** The mark as it is, and in every encoding that a careless writer might use. */
export const formsOf = (mark: string): readonly (readonly [string, Buffer])[] => {
  const hex = Buffer.from(mark).toString('hex')
  const text: [string, string][] = [
    ['plain', mark], ['hex', hex], ['upper hex', hex.toUpperCase()],
    ...base64Cores(mark).map((core): [string, string] => ['base64', core]),
    ...base64Cores(mark).map((core): [string, string] => [
      'base64url', core.replaceAll('+', '-').replaceAll('/', '_'),
    ]),
    ['JSON escapes', doubled(mark, (byte) => `\\u00${byte}`)],
    ['percent', doubled(mark, (byte) => `%${byte}`)],
    ['reversed', [...mark].reverse().join('')],
  ]
  return [
    ...text.map(([name, form]): [string, Buffer] => [name, Buffer.from(form, 'latin1')]),
    ['UTF-16', Buffer.from(mark, 'utf16le')],
  ]
}

/** Finds marks; gives sentences such as `MARK-KEY in base64`. */
export type Search = (bytes: Buffer) => readonly string[]

/** A search for these marks in all their forms. */
export const searchFor = (marks: readonly string[]): Search => {
  const forms = marks.flatMap((mark) => formsOf(mark).map(([name, form]) => ({ mark, name, form })))
  return (bytes) => [...new Set(
    forms.filter(({ form }) => bytes.includes(form)).map(({ mark, name }) => `${mark} in ${name}`),
  )]
}

/** Every file below a folder; one that vanishes meanwhile is left out. */
export const filesBelow = (folder: string): string[] => {
  try {
    return readdirSync(folder).flatMap((name) => {
      const path = join(folder, name)
      const facts = statSync(path, { throwIfNoEntry: false })
      if (facts?.isDirectory() === true) return filesBelow(path)
      return facts?.isFile() === true ? [path] : []
    })
  } catch {
    return []
  }
}

const bytesOf = (path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}

/** Findings in the files below these folders, and in their names. */
export const marksInFiles = (
  search: Search, folders: readonly string[], except: readonly string[] = [],
): string[] => folders.flatMap(filesBelow)
  .filter((path) => !except.includes(path))
  .flatMap((path) => [...search(bytesOf(path)), ...search(Buffer.from(path))]
    .map((found) => `${path}: ${found}`))
