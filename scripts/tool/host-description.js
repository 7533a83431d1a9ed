// Run by hand: takes from the public description of the code host (npm package @octokit/openapi)
// the operations that this program uses, with their schemas, for tests. The package is fetched
// through npm into a temporary folder; it is no dependency, being 385 MB when installed.
//   node scripts/tool/host-description.js [FOLDER with an unpacked package]
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './run.js'

const name = '@octokit/openapi'
const version = '23.0.2'
const source = 'package/generated/api.github.com.json'
const target = `${root}/test/support/codehost/host-description.json`

const repo = '/repos/{owner}/{repo}'

/** Path and method of every operation. */
const operations = [
  [repo, 'get'],
  [`${repo}/git/blobs`, 'post'], [`${repo}/git/blobs/{file_sha}`, 'get'],
  [`${repo}/git/trees`, 'post'], [`${repo}/git/trees/{tree_sha}`, 'get'],
  [`${repo}/git/commits`, 'post'], [`${repo}/git/commits/{commit_sha}`, 'get'],
  [`${repo}/git/refs`, 'post'], [`${repo}/git/ref/{ref}`, 'get'],
  [`${repo}/pulls`, 'post'], [`${repo}/pulls/{pull_number}`, 'get'],
  [`${repo}/pulls/{pull_number}/files`, 'get'],
  [`${repo}/issues`, 'post'], [`${repo}/issues/{issue_number}`, 'get'],
  [`${repo}/issues/{issue_number}/comments`, 'post'],
  [`${repo}/issues/comments/{comment_id}`, 'get'],
]

/** A parameter of one segment cannot hold `heads/…`, so that branches are a path of their own. */
const second = { from: `${repo}/git/ref/{ref}`, to: `${repo}/git/ref/heads/{branch}` }

const dropped = new Set([
  'description', 'example', 'examples', 'summary', 'title', 'externalDocs', 'deprecated', 'tags',
  'operationId', 'links', 'default', 'readOnly', 'x-github',
])

/** A value without what only people read. Members of `properties` are names and all stay. */
const bare = (value, names = false) => {
  if (Array.isArray(value)) return value.map((one) => bare(one))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value)
    .filter(([key]) => names || !dropped.has(key) && !key.startsWith('x-'))
    .map(([key, one]) => [key, bare(one, key === 'properties')]))
}

const at = (whole, ref) => ref.split('/').slice(1).reduce((here, key) => here[key], whole)

/** References to components that a value makes, directly or through others. */
const needed = (whole, value, found = new Set()) => {
  if (Array.isArray(value)) value.forEach((one) => needed(whole, one, found))
  else if (typeof value === 'object' && value !== null) {
    if (typeof value.$ref === 'string' && !found.has(value.$ref)) {
      found.add(value.$ref)
      needed(whole, bare(at(whole, value.$ref)), found)
    }
    Object.values(value).forEach((one) => needed(whole, one, found))
  }
  return found
}

const jsonOf = (content) => content?.['application/json']?.schema

/** What is kept of an operation: the schema of its request, and of each answer by its status. */
const operation = (whole, { requestBody, responses }) => ({
  request: jsonOf(requestBody?.content) ?? null,
  responses: Object.fromEntries(Object.entries(responses).map(([status, response]) => {
    const told = response.$ref === undefined ? response : at(whole, response.$ref)
    return [status, jsonOf(told.content) ?? null]
  })),
})

/** The extract as it is written. */
const extract = (text) => {
  const whole = JSON.parse(text)
  const paths = {}
  for (const [path, method] of operations) {
    const found = whole.paths[path]?.[method]
    if (found === undefined) throw new Error(`the description has no ${method} ${path}`)
    paths[path] = { ...paths[path], [method]: bare(operation(whole, found)) }
  }
  paths[second.to] = paths[second.from]
  const components = {}
  for (const ref of [...needed(whole, paths)].sort()) {
    const [, , kind, key] = ref.split('/')
    components[kind] = { ...components[kind], [key]: bare(at(whole, ref)) }
  }
  return {
    source: {
      package: name, version, file: source,
      sha256: createHash('sha256').update(text).digest('hex'),
    },
    paths, components,
  }
}

const fetched = (folder) => {
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', `${name}@${version}`], {
    cwd: folder, stdio: ['ignore', 'ignore', 'inherit'],
  })
  const file = `octokit-openapi-${version}.tgz`
  execFileSync('tar', ['xzf', file, source], { cwd: folder })
  return folder
}

const temporary = mkdtempSync(join(tmpdir(), 'host-description-'))
try {
  const folder = process.argv[2] ?? fetched(temporary)
  const made = extract(readFileSync(join(folder, source), 'utf8'))
  writeFileSync(target, `${JSON.stringify(made)}\n`)
  console.log(`${operations.length} operations, ${Object.keys(made.components.schemas).length} `
    + `schemas, source ${made.source.sha256}: ${target}`)
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
