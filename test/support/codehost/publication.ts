/** Inputs of publications that a test changes in one place. */
import { fileScan } from '../../../src/codehost/git/file-scan.js'
import { overlaid, emptyTree } from '../../../src/codehost/git/tree.js'
import type { GitTree } from '../../../src/codehost/git/tree.js'
import type { ScannedFile } from '../../../src/codehost/plan/changes.js'
import type { PublicationInput } from '../../../src/codehost/plan/publication.js'

/** A scanned file of these bytes. */
export const scanned = (
  path: string, content: string | Uint8Array, mode: '100644' | '100755' = '100644',
): ScannedFile => {
  const bytes = Buffer.from(content as Uint8Array)
  const scan = fileScan(bytes.length)
  scan.update(bytes)
  return { path, mode, ...scan.end() }
}

/** A file that is only counted: text of so many bytes, its id made of a number. */
export const counted = (path: string, number: number, bytes: number): ScannedFile => ({
  path, mode: '100644', id: number.toString(16).padStart(40, '0'), bytes, text: true,
  jsonBytes: bytes,
})

/** A tree of files. */
export const treeOf = (files: readonly ScannedFile[]): GitTree => overlaid(emptyTree, files)

const person = { name: 'Ann', email: 'ann@example', date: '2024-02-29T23:59:59Z' }

/** A publication of one file more than its base. */
export const publication = (change: Partial<PublicationInput> = {}): PublicationInput => ({
  host: { base: 'https://127.0.0.1:1234', loopback: true, earlierPosts: 0 },
  repository: { owner: 'acme', name: 'notes' },
  base: {
    branch: 'main', commit: '1'.repeat(40), tree: treeOf([scanned('README.md', '# Notes\n')]),
  },
  files: [scanned('README.md', '# Notes\n'), scanned('new.txt', 'new\n')],
  branch: 'topic/one',
  title: 'One',
  body: 'Why.\n',
  commit: { message: 'One\n', author: person, committer: person },
  historyEntryBytes: () => 600,
  ...change,
})
