/**
 * The names that a user gave to states: one small file beside the default key folder, and in no
 * state, since it says where states lie. Where it lies follows from XDG_CONFIG_HOME and HOME alone,
 * so that it is found before anything that a name stands for. A name decides whose money is spent:
 * what is not exactly such a file of this user, that nobody else may write, is refused whole.
 */
import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import * as v from 'valibot'
import { errnoOf } from '../../base/errno.js'
import { fail, SallyportError } from '../../base/errors.js'
import { parseClosed } from '../../base/schema.js'
import { parseStrictJson } from '../../base/strict-json.js'
import { shellWord } from '../../base/told.js'
import { baseFolder, type NamesPlaces } from '../../base/user-folders.js'

/** Most bytes of the file. */
export const namesBytesMax = 65_536
/** Most names in it. */
export const namesMax = 64

/** How a name is written: nothing that a shell, a path or a page reads as anything but itself. */
export const nameForm = /^[a-z0-9][a-z0-9-]{0,31}$/

/** Absolute, and written in the one way that the program writes it. */
const folder = v.pipe(v.string(), v.check((path) =>
  resolve(path) === path && !/[\0\ufffd]/u.test(path)))

const namedShape = v.strictObject({
  name: v.pipe(v.string(), v.regex(nameForm)),
  state_dir: folder,
  /** Null: the folder that this file lies in, which is the default. */
  config_dir: v.nullable(folder),
})
export type NamedState = v.InferOutput<typeof namedShape>

const schema = 'sallyport.names.v1'

const isOnce = (texts: readonly string[]): boolean => new Set(texts).size === texts.length

const fileShape = v.strictObject({
  schema: v.literal(schema),
  names: v.pipe(
    v.array(namedShape), v.maxLength(namesMax),
    v.check((names) => isOnce(names.map(({ name }) => name))),
    v.check((names) => isOnce(names.map(({ state_dir: dir }) => dir))),
  ),
})

/** Where the file lies. Throws as `baseFolder`. */
export const namesPath = (process: NamesPlaces): string =>
  join(baseFolder(process, 'XDG_CONFIG_HOME'), 'sallyport', 'names.json')

const problems = {
  link: 'is a link',
  not_file: 'is no regular file',
  owner: 'or its folder belongs to another user',
  mode: 'or its folder may be written by other users',
  too_large: `is longer than ${namesBytesMax} bytes`,
  form: 'is not what this program writes',
  unreadable: 'cannot be read',
} as const

const mended = (reason: keyof typeof problems, path: string): string => {
  if (reason === 'mode') {
    return `chmod 600 ${shellWord(path)}; chmod 700 ${shellWord(dirname(path))}`
  }
  return `Look at ${shellWord(path)}; move it away, and give the names again with `
    + '`sallyport at add NAME DIR`. Until then --state-dir and --config-dir say what is meant.'
}

const unusable = (reason: keyof typeof problems, path: string, cause?: unknown): SallyportError =>
  fail.rejected('names_unusable', `The file of named states ${problems[reason]}.`, {
    reason, next: mended(reason, path), cause,
  })

const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

/** Not `O_NOFOLLOW`'s own word on every system, but a loop of links is no file either. */
const openNames = (path: string): number | null => {
  try {
    return openSync(path, flags)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === 'ENOENT') return null
    throw unusable(errno === 'ELOOP' ? 'link' : errno === 'ENXIO' ? 'not_file' : 'unreadable',
      path, error)
  }
}

const othersWrite = 0o022

/** Whoever may put another file there says which state is meant as well as who writes it. */
const requireOwn = (path: string, uid: number | null, facts: readonly Stats[]): void => {
  if (uid !== null && facts.some((one) => one.uid !== uid)) throw unusable('owner', path)
  if (facts.some(({ mode }) => (mode & othersWrite) !== 0)) throw unusable('mode', path)
}

const bytesOf = (fd: number, path: string, uid: number | null): Buffer => {
  const facts = fstatSync(fd)
  if (!facts.isFile()) throw unusable('not_file', path)
  requireOwn(path, uid, [facts, statSync(dirname(path))])
  const bytes = Buffer.alloc(namesBytesMax + 1)
  let have = 0
  for (let got = -1; got !== 0; have += got) {
    got = readSync(fd, bytes, have, bytes.length - have, have)
  }
  if (have > namesBytesMax) throw unusable('too_large', path)
  return bytes.subarray(0, have)
}

const parsed = (bytes: Buffer, path: string): readonly NamedState[] => {
  try {
    const document = parseStrictJson(bytes, { bytesMax: namesBytesMax, depthMax: 3 })
    return parseClosed(fileShape, document, { code: 'names_unusable', what: 'file' }).names
  } catch (cause) {
    throw unusable('form', path, cause)
  }
}

/**
 * The names in a file, in order; none where there is no file. `uid`: whose it has to be, null where
 * users have no number. Throws `rejected` `names_unusable` for what is no such file of this user.
 */
export const readNames = (
  path: string, uid = process.getuid?.() ?? null,
): readonly NamedState[] => {
  const fd = openNames(path)
  if (fd === null) return []
  try {
    return parsed(bytesOf(fd, path, uid), path)
  } catch (error) {
    throw error instanceof SallyportError ? error : unusable('unreadable', path, error)
  } finally {
    closeSync(fd)
  }
}

export const namesBytes = (names: readonly NamedState[]): Buffer =>
  Buffer.from(`${JSON.stringify({ schema, names }, null, 2)}\n`)
