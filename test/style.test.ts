/** Style of the tree, as an ordinary test: what a formatter would not see or would fight over. */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const columnsMax = 100

const filesBelow = (path: string): string[] => {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (facts === undefined) return []
  if (!facts.isDirectory()) return [path]
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)))
}

const code = ['src', 'test', 'bench', 'scripts', 'bin']
  .flatMap(filesBelow)
  .filter((path) => /\.(ts|js)$/.test(path))
const prose = ['docs', 'man', 'completions', 'changelog', '.ci', 'README.md', 'package.json']
  .flatMap(filesBelow)
  .filter((path) => !path.endsWith('.png'))

const linesWith = (paths: readonly string[], wrong: (line: string) => boolean): string[] =>
  paths.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, at) => (wrong(line) ? [`${path}:${at + 1}`] : [])),
  )

t.test(`no line of code is longer than ${columnsMax} columns`, async (t) => {
  t.ok(code.length > 50, 'the tree was found')
  // A test's title is one sentence, and a sentence is not broken.
  const title = /^\s*(await )?t(?:ap)?\.(test|equal|same|match|ok)\(/
  t.strictSame(linesWith(code, (line) => [...line].length > columnsMax && !title.test(line)), [])
})

t.test('no tabs, no space at a line end, no semicolon at a line end', async (t) => {
  t.strictSame(linesWith(code, (line) => /\t|[ ]$/.test(line)), [])
  // Style sheets have semicolons of their own.
  const typescript = code.filter((path) => path.endsWith('.ts') && !path.endsWith('/style.ts'))
  t.strictSame(
    linesWith(typescript, (line) => /[^;];$/.test(line) && !/^\s*(\*|\/\/)/.test(line)), []
  )
})

t.test('every file ends with one line end', async (t) => {
  const wrong = [...code, ...prose].filter((path) => {
    const text = readFileSync(path, 'utf8')
    return text !== '' && (!text.endsWith('\n') || text.endsWith('\n\n'))
  })
  t.strictSame(wrong, [])
})

t.test('nothing names the machine or the folders it was written in', async (t) => {
  // Put together here, so that this file is not its own finding.
  const words = [
    ['/wo', 'rk/'], ['sha', 'red/(design|spec|facts|tools|hooks)'], ['/tmp/br', 'ief'],
    ['\\.lib', 'rary'],
    ['Cla', 'ude'], ['Anthr', 'opic'], ['Chat', 'GPT'], ['issues sh', 'ow'],
  ].map((parts) => parts.join(''))
  const forbidden = new RegExp(words.join('|'), 'i')
  t.strictSame(linesWith([...code, ...prose], (line) => forbidden.test(line)), [])
})

t.test('no test is left alone, skipped or unfinished', async (t) => {
  const tests = code.filter((path) => path.endsWith('.test.ts'))
  const unfinished = /\bt\.only\(|\bonly: true|\bskip: true|\btodo: /
  t.strictSame(linesWith(tests, (line) => unfinished.test(line)), [])
})

t.test('a store is asked for what it keeps, and by few for where that lies', async (t) => {
  // What is shown to people, given to a child, or of this machine alone: each by its reason.
  const allowed: Readonly<Record<string, readonly string[]>> = {
    'told to people, or measured for them': [
      'src/fabric/init-contract.ts', 'src/fabric/init.ts', 'src/fabric/status.ts',
      'src/fabric/destroy/look.ts', 'src/fabric/prune/prune.ts', 'src/fabric/state-care.ts',
      'src/fabric/machines/shared-here.ts',
    ],
    'stages and evidence, which a child works in': [
      'src/codehost/closure/publication/quiescence.ts', 'src/codehost/jobs/publication/bind.ts',
      'src/codehost/jobs/publication/produce.ts', 'src/codehost/jobs/publication/stages.ts',
    ],
    'tokens, last uses and the service of this machine': [
      'src/cli/commands/login/login.ts', 'src/cli/commands/logout/logout.ts',
      'src/cli/commands/session/session.ts', 'src/cli/login.ts', 'src/fabric/doctor-service.ts',
      'src/fabric/prune/roots.ts', 'src/fabric/sweep-unfinished.ts', 'src/governance/context.ts',
      'src/governance/session/authenticate.ts', 'src/governance/session/login.ts',
      'src/governance/stops/people.ts', 'src/governance/stops/record.ts',
      'src/service/material.ts',
    ],
    'what this machine read or was publishing when it was cut off': [
      'src/codehost/closure/ask.ts', 'src/codehost/closure/close.ts',
      'src/codehost/closure/look.ts', 'src/codehost/jobs/close-line.ts',
      'src/edge/interrupted-uploads.ts',
    ],
    'what this machine found in its image folders': [
      'src/shots/last-runs.ts', 'src/shots/scan/open-pass.ts', 'src/shots/scan/scan.ts',
      'src/shots/scan/unmounted.ts', 'src/shots/status/analysis.ts',
    ],
    'how the lock of this directory is had': [
      'src/governance/policy/policy-status.ts', 'src/shots/locked.ts',
      'src/shots/status/analysis.ts', 'src/shots/status/status.ts',
    ],
  }
  const name = '(dir|runDir|stopsDir)'
  const taken = String.raw`\{[^{}]*\b${name}\b[^{}]*\}`
  const asks = new RegExp([
    String.raw`\bstore\??\s*\.\s*${name}\b`, String.raw`\.(stopsDir|runDir)\b`,
    String.raw`\[['"]${name}['"]\]`, String.raw`${taken}\s*=\s*(\w+\??\.)*store\b(?!\.)`,
    String.raw`\bstore: ${taken}`, String.raw`${taken}: (Pick<)?Store\b`,
  ].join('|'))
  // A text tells no alias of a store from another object: `at.dir` is seen by whoever reads.
  for (const spelling of [
    'gov.store.dir', 'store?.dir', 'store\n  .dir', "store['dir']", 'const { dir } = store',
    'const { dir: at, storeId } = ctx.gov.store', '({ runDir }: Store) =>',
    '{ store: { runDir } } = gov', "({ dir }: Pick<Store, 'dir'>) =>",
  ]) t.match(spelling, asks)
  t.notMatch('const { dir } = store.places', asks)
  const asking = code.filter((path) => /^src\/(?!state\/)/.test(path)
    && asks.test(readFileSync(path, 'utf8')))
  t.strictSame(asking.sort(), [...new Set(Object.values(allowed).flat())].sort())
})
