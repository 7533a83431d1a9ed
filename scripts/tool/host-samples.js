// Run by hand: takes from public recordings of the code host (npm packages @octokit/fixtures and
// @octokit/webhooks-examples) the documents that the readers of replies must take. Addresses that
// nobody reads are left out, so that the file stays small; all other members stay.
//   node scripts/tool/host-samples.js
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './run.js'

const target = `${root}/test/support/codehost/host-samples.json`
const packages = { '@octokit/fixtures': '23.1.2', '@octokit/webhooks-examples': '7.6.1' }

const fetched = (folder, name) => {
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', `${name}@${packages[name]}`], {
    cwd: folder, stdio: ['ignore', 'ignore', 'inherit'],
  })
  const file = join(folder, `${name.slice(1).replace('/', '-')}-${packages[name]}.tgz`)
  const into = mkdtempSync(join(folder, 'unpacked-'))
  execFileSync('tar', ['xzf', file, '-C', into])
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex')
  return { dir: join(into, 'package'), source: { package: name, version: packages[name], sha256 } }
}

const small = (value) => JSON.parse(JSON.stringify(value, (key, one) =>
  key === '_links' || key.endsWith('_url') && key !== 'issue_url' ? undefined : one))

const json = (...parts) => JSON.parse(readFileSync(join(...parts), 'utf8'))

/** Replies of one recorded scenario that fit a test. */
const recorded = (dir, scenario, fits) =>
  json(dir, 'scenarios/api.github.com', scenario, 'normalized-fixture.json').filter(fits)

const temporary = mkdtempSync(join(tmpdir(), 'host-samples-'))
try {
  const fixtures = fetched(temporary, '@octokit/fixtures')
  const examples = fetched(temporary, '@octokit/webhooks-examples')
  const events = (name) => json(examples.dir, 'api.github.com/index.json')
    .find((one) => one.name === name).examples
  const get = (scenario, status, method = 'get') =>
    recorded(fixtures.dir, scenario, (one) => one.method === method && one.status === status)
  const responses = (list) => list.map(({ response }) => response)
  const made = small({
    sources: [fixtures.source, examples.source],
    repository: [
      ...responses(get('get-repository', 200)), ...responses(get('rename-repository', 200)),
    ],
    ref: [...responses(get('git-refs', 201, 'post')), ...responses(get('git-refs', 200)).flat()],
    issue: [
      ...responses(get('paginate-issues', 200)).flat(),
      ...responses(get('add-labels-to-issue', 201, 'post')),
      ...events('issues').map(({ issue }) => issue),
    ],
    pull: events('pull_request').map(({ pull_request: pull }) => pull),
    comment: events('issue_comment').map(({ comment }) => comment),
    moved: [...get('rename-repository', 301), ...get('rename-repository', 307, 'patch')]
      .map(({ status, headers, response }) => ({ status, location: headers.location, response })),
    errors: [...get('errors', 422, 'post')].map(({ status, response }) => ({ status, response })),
    links: recorded(fixtures.dir, 'paginate-issues', () => true)
      .map(({ headers }) => headers.link ?? null),
  })
  writeFileSync(target, `${JSON.stringify(made)}\n`)
  console.log(Object.entries(made).map(([name, list]) => `${name} ${list.length}`).join(', '))
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
