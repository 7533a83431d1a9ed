/** Names of repositories and the paths that are built from them. */
import t from 'tap'
import { hostPath, repositoryOf } from '../../src/codehost/repository.js'

t.test('a repository is one owner and one name, and nothing else', async (t) => {
  t.strictSame(repositoryOf('acme/notes'), { owner: 'acme', name: 'notes' })
  t.strictSame(repositoryOf('a-1/.github'), { owner: 'a-1', name: '.github' })
  t.strictSame(repositoryOf(`${'a'.repeat(39)}/${'b'.repeat(100)}`).owner.length, 39)
  for (const text of [
    '', 'acme', 'acme/', '/notes', 'acme/notes/', 'acme/a/b', 'acme/*', '*/notes', '-a/b', 'a-/b',
    'a_b/c', 'acme/.', 'acme/..', 'acme/a b', 'acme/a%2Fb', 'acme/a?b', 'acme/ä', 'acme/notes\n',
    `${'a'.repeat(40)}/b`, `a/${'b'.repeat(101)}`,
  ]) {
    t.throws(() => repositoryOf(text), { code: 'repository_name_invalid', kind: 'rejected' }, text)
  }
})

t.test('paths are built from typed parts, a branch is one segment', async (t) => {
  const repo = { owner: 'acme', name: 'notes' }
  const sha = 'e9ba7ba07276a794d493db90e0384940ce2b757b'
  const top = '/repos/acme/notes'
  t.strictSame([
    hostPath.repository(repo), hostPath.blobs(repo), hostPath.trees(repo), hostPath.commits(repo),
    hostPath.refs(repo), hostPath.pulls(repo), hostPath.issues(repo), hostPath.comments(repo, 7),
    hostPath.blob(repo, sha), hostPath.tree(repo, sha), hostPath.commit(repo, sha),
    hostPath.branch(repo, 'a/b#ü'), hostPath.pull(repo, 7), hostPath.pullFiles(repo, 7, 20),
    hostPath.issue(repo, 7), hostPath.comment(repo, 7),
  ], [
    top, `${top}/git/blobs`, `${top}/git/trees`, `${top}/git/commits`, `${top}/git/refs`,
    `${top}/pulls`, `${top}/issues`, `${top}/issues/7/comments`, `${top}/git/blobs/${sha}`,
    `${top}/git/trees/${sha}?recursive=1`, `${top}/git/commits/${sha}`,
    `${top}/git/ref/heads/a%2Fb%23%C3%BC`, `${top}/pulls/7`,
    `${top}/pulls/7/files?per_page=100&page=20`, `${top}/issues/7`, `${top}/issues/comments/7`,
  ])
})

t.test('what is no part of a path builds none', async (t) => {
  const repo = { owner: 'acme', name: 'notes' }
  for (const wrong of [{ owner: '..', name: 'x' }, { owner: 'a', name: '..' }]) {
    t.throws(() => hostPath.blobs(wrong), new TypeError('not a repository name'))
  }
  for (const branch of ['', '..', 'a b', 'a?b', '.', '@']) {
    t.throws(() => hostPath.branch(repo, branch), new TypeError('not a name of a branch'), branch)
  }
  for (const sha of ['', 'HEAD', '../x', 'E9BA7BA07276A794D493DB90E0384940CE2B757B']) {
    t.throws(() => hostPath.tree(repo, sha), new TypeError('not an object id'), sha)
  }
  for (const number of [0, -1, 1.5, Number.NaN, 2 ** 53]) {
    t.throws(() => hostPath.issue(repo, number),
      new TypeError('not a number of the host'), String(number))
    t.throws(() => hostPath.pullFiles(repo, 1, number),
      new TypeError('not a number of the host'), String(number))
  }
})
