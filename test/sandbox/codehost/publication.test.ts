/** A planned publication carried out on a code host that computes every id by git. */
import t from 'tap'
import { treeOfListing } from '../../../src/codehost/git/tree.js'
import type { ListedEntry } from '../../../src/codehost/git/tree.js'
import { bodyPieces } from '../../../src/codehost/plan/body.js'
import { planPublication } from '../../../src/codehost/plan/publication.js'
import { hostPath } from '../../../src/codehost/repository.js'
import { blobBytesOf, readReply } from '../../../src/codehost/replies/parse-reply.js'
import { publication, scanned } from '../../support/codehost/publication.js'
import { hostOf, settled } from '../../support/sandbox/host-client.js'

const repository = { owner: 'operator', name: 'notes' }

t.test('every planned id is the one that git gives, and what is read back is what was planned', async (t) => {
  const host = await hostOf(t)
  const ref = await host.get(hostPath.branch(repository, 'main'))
  const commit = await host.get(hostPath.commit(repository, ref.json.object.sha))
  const base = await host.get(hostPath.tree(repository, commit.json.tree.sha))
  t.equal(base.json.truncated, false)
  const rows = (base.json.tree as { path: string, mode: ListedEntry['mode'], sha: string }[])
    .map(({ path, mode, sha }) => ({ path, mode, id: sha }))
  const contents = new Map<string, Buffer>([
    ['README.md', Buffer.from('# Notes\n\nChanged.\n')],
    ['docs/plan.md', Buffer.from('# Plan\n\n- one\n- two\n')],
    ['docs-more', Buffer.from('sorts before the folder\n')],
    ['docs/reading/ü 日本 "q".txt', Buffer.from('\ufeffquotes " and \\ \u0001\r\n')],
    ['bin/data', Buffer.from([0, 255, 1])],
    ['empty', Buffer.alloc(0)],
    ['src/greet.sh', Buffer.from('#!/bin/sh\necho hello\n')],
    ...Array.from({ length: 230 }, (_, at): [string, Buffer] =>
      [`many/${at % 7}/f${at}`, Buffer.from(`file ${at}\n`)]),
  ])
  const plan = planPublication(publication({
    repository, branch: 'topic/a-b',
    base: {
      branch: 'main', commit: ref.json.object.sha, tree: treeOfListing(commit.json.tree.sha, rows),
    },
    files: [...contents].map(([path, bytes]) => scanned(path, bytes)),
  }))
  t.strictSame(plan.posts.map(({ kind }) => kind), [
    'blob', 'blob', 'chunk', 'chunk', 'growth', 'commit', 'ref', 'pull_request',
  ])
  let pull = 0
  for (const post of plan.posts) {
    const pieces: Buffer[] = []
    const of = (file: number): Buffer[] =>
      [contents.get(plan.changes[file]?.path ?? '') ?? Buffer.alloc(0)]
    for await (const piece of bodyPieces(post, of)) pieces.push(piece)
    const bytes = Buffer.concat(pieces)
    const reply = await host.create(post.path, null, { bytes })
    t.equal(reply.status, 201, `${post.kind}: ${reply.body.toString().slice(0, 200)}`)
    if (post.kind === 'pull_request') pull = reply.json.number
    else if (post.kind === 'ref') t.equal(reply.json.object.sha, post.id)
    else t.equal(reply.json.sha, post.id, post.kind)
  }
  const final = await host.get(hostPath.tree(repository, plan.tree.id))
  t.strictSame(
    new Map((final.json.tree as { path: string, sha: string }[]).map((row) => [row.path, row.sha])),
    new Map([...plan.tree.listing()].map(({ path, id }) => [path, id])))
  const made = await host.get(hostPath.branch(repository, 'topic/a-b'))
  t.equal(made.json.object.sha, plan.commit)
  const read = await host.get(hostPath.pull(repository, pull))
  t.hasStrict(read.json, {
    state: 'open', draft: false, merged: false, title: 'One', body: 'Why.\n',
    changed_files: plan.changes.length, head: { ref: 'topic/a-b', sha: plan.commit },
    base: { ref: 'main', sha: ref.json.object.sha },
  })
  t.hasStrict((await host.get(hostPath.issue(repository, pull))).json, {
    number: pull, pull_request: { merged_at: null },
  })
  t.equal((await host.get(hostPath.commit(repository, plan.commit))).json.message, 'One')
  let rawBytes = 0
  for (const one of [final, read, made]) rawBytes += one.body.length
  t.ok(rawBytes < plan.counts.closingRawBytes, 'the plan counted for more')
  t.ok(final.body.length <= plan.counts.largestTreeReplyBytes, `${final.body.length} bytes`)
  const replies = [
    ['repository', await host.get(hostPath.repository(repository))], ['tree', final],
    ['ref', made], ['pull', read], ['issue', await host.get(hostPath.issue(repository, pull))],
    ['commit', commit], ['pull_files', await host.get(hostPath.pullFiles(repository, pull, 1))],
    ['blob', await host.get(hostPath.blob(repository, plan.posts[0]?.id ?? ''))],
  ] as const
  for (const [name, reply] of replies) t.doesNotThrow(() => readReply(name, reply.body), name)
  const blob = readReply('blob', replies[7][1].body)
  t.strictSame(blobBytesOf(blob), contents.get('bin/data'))
  await settled(t, host)
  t.ok(host.told.validated >= 18, `${host.told.validated} exchanges`)
  t.equal(host.told.unlisted.size, 0)
})
