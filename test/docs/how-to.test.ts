/**
 * Every command of the how-to pages is typed as it is printed, against the sandbox, and answers
 * what the page says; ids, digests and times are compared by their form. SALLYPORT_WRITE_DOCS=1
 * writes what was answered into the pages.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { must } from '../support/must.js'
import { publishing, type Publishing } from '../support/codehost/publishing.js'
import { builtApp } from '../world/process.js'

/** A page cut at its blocks: text, commands, text, output, … */
const parts = (page: string): readonly string[] => page.split(/^```(?:sh|text)?\n/m)

/** A stand-in where there is no jq: paths alone. */
const pathOnly = `jq() { node -e '
  const fs = require("fs")
  const [path, file] = process.argv.slice(2)
  const value = path.split(/[.[\\]]+/).filter(Boolean)
    .reduce((one, key) => one[key], JSON.parse(fs.readFileSync(file ?? 0)))
  console.log(typeof value === "string" ? value : JSON.stringify(value))' "$@"; }`

const marker = '---- end of a block ----'

/** Types the blocks one after the other in one shell; gives what each answered. */
const typed = async (
  at: Publishing, blocks: readonly string[], env: Readonly<Record<string, string>>,
): Promise<readonly string[]> => {
  const program = join(await builtApp(), 'sallyport.js')
  const script = [
    `sallyport() { "${process.execPath}" "${program}" "$@"; }`,
    `command -v jq >/dev/null || ${pathOnly}`,
    ...blocks.map((block) => `${block}echo '${marker}'`),
  ].join('\n')
  const child = spawn('bash', ['-c', `exec 2>&1\n${script}`], {
    cwd: at.place.path('.'), env: { ...at.place.env, PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const out: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => out.push(piece))
  await new Promise((done) => child.once('close', done))
  return Buffer.concat(out).toString('utf8').split(`${marker}\n`).slice(0, -1)
}

/** The same for every run: what is made anew each time has one form. */
const formed = (text: string): string => text
  .replace(/\b([a-z]{2,4})_[0-9a-f]{8}-[0-9a-f-]{27}\b/g, '$1_01a2b3c4-…')
  .replace(/\b[0-9a-f]{64}\b/g, '5feceb66…').replace(/\b[0-9a-f]{40}\b/g, 'd670460b…')
  .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-02T03:04:05.678Z')

const checked = async (
  t: Parameters<typeof publishing>[0] & { strictSame(a: unknown, b: unknown, title: string): void },
  name: string, at: Publishing, env: Readonly<Record<string, string>>,
): Promise<void> => {
  const path = `docs/how-to/${name}.md`
  const pieces = parts(readFileSync(path, 'utf8'))
  const blocks = pieces.filter((_, place) => place % 4 === 1)
  const answers = (await typed(at, blocks, env)).map(formed)
  if (process.env['SALLYPORT_WRITE_DOCS'] === '1') {
    const fences = ['', '```sh\n', '```\n```text\n', '```\n']
    writeFileSync(path, pieces.map((piece, place) => {
      if (place % 4 === 1) return `\`\`\`sh\n${piece}\`\`\`\n`
      if (place % 4 === 3) return `\`\`\`text\n${answers[(place - 3) / 4] ?? ''}\`\`\`\n`
      return fences[0] + piece
    }).join(''))
  }
  t.strictSame(answers, pieces.filter((_, place) => place % 4 === 3), path)
}

t.test('publishing from a CI job: each command of the page answers what the page says', async (t) => {
  const at = await publishing(t)
  must(await at.run(['logout']))
  mkdirSync(at.place.path('site'), { recursive: true })
  writeFileSync(at.place.path('site/index.html'), '<p>MARK-site</p>\n')
  await checked(t, 'publish-from-ci', at, {
    TOKEN_FILE: at.sandbox.keyFiles.codehost, BUILD: '1041', BUILD_KEY: randomUUID(),
  })
  t.equal(at.posts().length, 5)
})

t.test('when it says unknown: each command of the page answers what the page says', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', after: 1, times: 1 })
  await checked(t, 'when-it-says-unknown', at, { job })
  t.equal(at.job(job).state, 'succeeded')
})
