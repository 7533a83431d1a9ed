// How many places assert something. One in a table of cases runs for each of them, so that the
// number of assertions alone says little about how much is looked at.
import { readFileSync } from 'node:fs'
import { filesBelow } from './files.js'
import { root } from './run.js'

const call = new RegExp(String.raw`\bt\.(?:${[
  'ok', 'notOk', 'equal', 'not', 'same', 'notSame', 'strictSame', 'strictNotSame', 'match',
  'notMatch', 'has', 'hasStrict', 'notHas', 'hasProps', 'throws', 'doesNotThrow', 'rejects',
  'resolves', 'resolveMatch', 'type', 'matchOnly', 'matchStrict', 'pass', 'fail', 'error', 'emits',
].join('|')})\(`, 'g')

/** Places in the given sources that assert; in all of test/ where none is given. */
export const assertionSites = (files = testSources()) =>
  files.reduce((sum, file) => sum + (readFileSync(file, 'utf8').match(call)?.length ?? 0), 0)

const testSources = () => filesBelow(`${root}/test`).filter((path) => path.endsWith('.ts'))
