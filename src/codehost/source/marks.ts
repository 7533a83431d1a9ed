/**
 * Files that a person should look at before they are published, by name and by what they hold. A
 * mark refuses nothing: the preview shows it.
 */
import { prefixedKey, privateKey } from '../../base/key-shapes.js'

/** Why a file is marked. */
export const sourceMarks = ['env_file', 'pem_file', 'id_file', 'key_shape'] as const
export type SourceMark = (typeof sourceMarks)[number]

const byName: readonly (readonly [SourceMark, RegExp])[] = [
  ['env_file', /^\.env/i],
  ['pem_file', /\.pem$/i],
  ['id_file', /^id_/i],
]

/** Both take no note of where they were found. */
const shapes = [prefixedKey, privateKey].map(({ source }) => new RegExp(source))

/** The marks of a file: `.env*`, `*.pem`, `id_*`, and bytes in which something looks like a key. */
export const marksOf = (path: string, bytes: Buffer): readonly SourceMark[] => {
  const name = path.slice(path.lastIndexOf('/') + 1)
  // One character a byte: what is looked for is ASCII, and no byte is too odd to be looked at.
  const text = bytes.toString('latin1')
  return [
    ...byName.flatMap(([mark, form]) => form.test(name) ? [mark] : []),
    ...(shapes.some((shape) => shape.test(text)) ? ['key_shape' as const] : []),
  ]
}
