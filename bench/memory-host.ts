/**
 * A code host for measuring: real TLS on loopback, objects in memory with ids by the project's own
 * hashing, no git and no disk, so that its own time does not hide what is beside it.
 */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { commitId, type CommitDraft } from '../src/codehost/git/commit.js'
import { objectId } from '../src/codehost/git/object-id.js'
import { emptyTree, overlaid, type GitTree } from '../src/codehost/git/tree.js'
import { typeOfMode } from '../src/codehost/git/tree-entry.js'
import { makeCertificates } from '../src/sandbox/certificates.js'

const top = '/repos/octo-org/hello'
const repositoryId = 7

type Body = Record<string, unknown>
interface Answer { readonly status: number, readonly body: unknown }
interface Entry { path: string, mode: '100644' | '100755', sha?: string, content?: string }

const person = { name: 'B', email: 'b@c', date: '2026-01-02T03:04:05Z' }

/** Whose the token is, and who made what it makes. */
const user = { id: 5, login: 'ada', type: 'User' }

/** What it holds, and how it answers. */
const hostOf = () => {
  const trees = new Map<string, GitTree>()
  const commits = new Map<string, CommitDraft>()
  const refs = new Map<string, string>()
  const pulls: Body[] = []
  const blobs = new Map<string, Buffer>()
  const blob = (bytes: Buffer): string => {
    const id = objectId('blob', bytes)
    blobs.set(id, bytes)
    return id
  }
  const keep = (tree: GitTree): GitTree => {
    trees.set(tree.id, tree)
    return tree
  }
  const commit = (draft: CommitDraft): string => {
    const id = commitId(draft)
    commits.set(id, draft)
    return id
  }
  const base = keep(overlaid(emptyTree, [
    { path: 'README.md', mode: '100644', id: blob(Buffer.from('# Hello\n')) },
  ]))
  refs.set('main', commit({
    tree: base.id, parents: [], author: person, committer: person, message: 'First\n',
  }))
  /** Files of a branch that the base does not have so. */
  const changedOn = (ref: string): readonly Body[] => {
    const { tree = '' } = commits.get(refs.get(ref) ?? '') ?? {}
    const known = new Map([...base.listing()].map(({ path, id }) => [path, id]))
    return [...trees.get(tree)?.listing() ?? []]
      .filter(({ path, mode, id }) => typeOfMode(mode) === 'blob' && known.get(path) !== id)
      .map(({ path, id }) => ({ filename: path, sha: id, status: 'added' }))
  }
  const side = (ref: string) => ({
    ref, sha: refs.get(ref), repo: { id: repositoryId, full_name: 'octo-org/hello' },
  })
  const refOf = (name: string): Body => ({
    ref: `refs/heads/${name}`, object: { type: 'commit', sha: refs.get(name) },
  })
  const treeOf = ({ base_tree: from, tree }: { base_tree?: string, tree: Entry[] }): GitTree =>
    keep(overlaid(from === undefined ? emptyTree : trees.get(from) ?? emptyTree, tree.map(
      ({ path, mode, sha, content }) =>
        ({ path, mode, id: sha ?? blob(Buffer.from(content ?? '')) }))))
  const made: Readonly<Record<string, (body: never) => unknown>> = {
    '/git/blobs': ({ content, encoding }: { content: string, encoding: BufferEncoding }) =>
      ({ sha: blob(Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8')) }),
    '/git/trees': (body: { base_tree?: string, tree: Entry[] }) => ({ sha: treeOf(body).id }),
    '/git/commits': (body: CommitDraft) => ({ sha: commit(body) }),
    '/git/refs': ({ ref, sha }: { ref: string, sha: string }) => {
      const name = ref.slice('refs/heads/'.length)
      refs.set(name, sha)
      return refOf(name)
    },
    '/pulls': ({ title, body, head, base: into }: Record<string, string>) => {
      const pull = {
        id: 1, number: pulls.length + 1, state: 'open', draft: false, merged: false, title, body,
        head: side(String(head).split(':').at(-1) ?? ''), base: side(into ?? ''),
        changed_files: changedOn(String(head).split(':').at(-1) ?? '').length,
        // What came to be without a time and an author is not taken for what was sent.
        user, created_at: new Date().toISOString().replace(/\.\d+/, ''),
      }
      pulls.push(pull)
      return pull
    },
  }
  const rows = (tree: GitTree) => [...tree.listing()].map(({ path, mode, id }) =>
    ({ path, mode, type: typeOfMode(mode), sha: id }))
  const read = (path: string): unknown => {
    if (path === '') {
      return {
        id: repositoryId, name: 'hello', full_name: 'octo-org/hello', owner: { login: 'octo-org' },
        private: true, archived: false, has_issues: true, default_branch: 'main',
        permissions: { pull: true, push: true },
      }
    }
    const [, number = '', page = ''] = /^\/pulls\/(\d+)\/files\?per_page=100&page=(\d+)$/
      .exec(path) ?? []
    if (number !== '') {
      const { head } = pulls[Number(number) - 1] as { head: { ref: string } }
      return changedOn(head.ref).slice((Number(page) - 1) * 100, Number(page) * 100)
    }
    const [, kind = '', key = ''] = /^\/(?:git\/)?([a-z]+)\/(.*?)(?:\?.*)?$/.exec(path) ?? []
    const name = decodeURIComponent(key)
    if (kind === 'ref') {
      const branch = name.replace(/^heads\//, '')
      return refs.has(branch) ? refOf(branch) : null
    }
    if (kind === 'commits') {
      const found = commits.get(name)
      return found === undefined ? null : {
        ...found, sha: name, tree: { sha: found.tree },
        parents: found.parents.map((sha) => ({ sha })),
      }
    }
    if (kind === 'blobs') {
      const found = blobs.get(name)
      return found === undefined ? null : {
        sha: name, size: found.length, encoding: 'base64', content: found.toString('base64'),
      }
    }
    if (kind === 'trees') {
      const found = trees.get(name)
      if (found === undefined) return null
      const all = rows(found)
      const tree = path.includes('recursive') ? all : all.filter((one) => !one.path.includes('/'))
      return { sha: name, truncated: false, tree }
    }
    return kind === 'pulls' ? pulls[Number(name) - 1] ?? null : null
  }
  return (method: string, path: string, body: Buffer): Answer => {
    if (path === '/user') return { status: 200, body: user }
    const rest = path.slice(top.length)
    const answer = method === 'POST'
      ? made[rest]?.(JSON.parse(body.toString('utf8')) as never) ?? null : read(rest)
    if (answer === null) return { status: 404, body: { message: 'Not Found' } }
    return { status: method === 'POST' ? 201 : 200, body: answer }
  }
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

/** Serves until its process is ended; prints where its profile lies. */
export const serve = async (dir: string): Promise<void> => {
  const tls = await makeCertificates()
  const answer = hostOf()
  const seen = { connections: 0, paths: [] as string[] }
  let delayMs = 0
  /** What the measuring process asks of the host itself: what was seen, and how late it answers. */
  const control = (url: string): unknown => {
    delayMs = Number(/^\/control\?delay=(\d+)$/.exec(url)?.[1] ?? delayMs)
    const told = { ...seen }
    Object.assign(seen, { connections: 0, paths: [] })
    return told
  }
  const server = createServer({ cert: tls.certPem, key: tls.keyPem }, (request, response) => {
    const { method = '', url = '' } = request
    void bodyOf(request).then(async (body) => {
      const isControl = url.startsWith('/control')
      if (delayMs > 0 && !isControl) await new Promise((done) => setTimeout(done, delayMs))
      if (method === 'GET' && !isControl) seen.paths.push(url)
      const { status, body: told } = isControl
        ? { status: 200, body: control(url) } : answer(method, url, body)
      const text = JSON.stringify(told)
      response.writeHead(status, {
        'content-type': 'application/json', 'content-length': Buffer.byteLength(text),
        // What is sent has a connection of its own; reads share some.
        ...method === 'GET' ? {} : { connection: 'close' },
      }).end(text)
    })
  })
  server.on('secureConnection', () => {
    seen.connections += 1
  })
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', () => done())
  })
  const { port } = server.address() as AddressInfo
  const base = `https://127.0.0.1:${port}`
  const [caFile, profileFile] = [join(dir, 'ca.pem'), join(dir, 'profile.json')]
  writeFileSync(caFile, tls.caPem)
  writeFileSync(profileFile, JSON.stringify({
    schema: 'sallyport.profile.v1', name: 'bench',
    provider: { name: 'bench', base_url: `${base}/v1`, model_id: 'bench/model-1' },
    codehost: { base_url: base }, ca_file: caFile,
  }))
  process.stdout.write(`${JSON.stringify({ base, caFile, profileFile })}\n`)
}
