/**
 * A bare repository driven by the real git program, so that every id of the sandbox is git's own.
 * Nothing of this machine's settings reaches it.
 */
import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/** One row of a tree. */
export interface TreeRow {
  readonly mode: string
  readonly type: string
  readonly id: string
  /** Bytes of a blob; null for folders and submodules. */
  readonly size: number | null
  readonly path: string
}

/** One entry that a tree is to have: an object that is there, or a text that becomes a blob. */
export interface NewEntry {
  readonly path: string
  readonly mode: string
  readonly id: string | null
  readonly content: string | null
}

/** A commit as it is stored. */
export interface StoredCommit {
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Person
  readonly committer: Person
  readonly message: string
}

/** Somebody in a commit; `seconds` since 1970. */
export interface Person {
  readonly name: string
  readonly email: string
  readonly seconds: number
}

/** A file that two commits have differently. */
export interface ChangedFile {
  readonly status: 'added' | 'removed' | 'modified' | 'renamed' | 'changed'
  readonly path: string
  readonly before: string | null
  readonly id: string
  readonly additions: number
  readonly deletions: number
  readonly patch: string | null
}

const nothing = '/dev/null'

const envOf = (gitDir: string): Record<string, string> => ({
  PATH: '/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin',
  LC_ALL: 'C', TZ: 'UTC', HOME: nothing, XDG_CONFIG_HOME: nothing,
  GIT_DIR: gitDir, GIT_CEILING_DIRECTORIES: dirname(gitDir),
  GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_SYSTEM: nothing, GIT_CONFIG_GLOBAL: nothing,
  GIT_ATTR_NOSYSTEM: '1', GIT_NO_REPLACE_OBJECTS: '1', GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '', GIT_TERMINAL_PROMPT: '0', GIT_DEFAULT_HASH: 'sha1',
  GIT_OPTIONAL_LOCKS: '0',
})

const settings = ['gc.auto=0', 'maintenance.auto=false', 'core.hooksPath=/dev/null',
  'fastimport.unpackLimit=0'].flatMap((one) => ['-c', one])

interface Ran {
  readonly status: number
  readonly stdout: Buffer
  readonly stderr: string
}

const run = (
  gitDir: string, args: readonly string[], input: readonly (string | Uint8Array)[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = spawn('git', [...settings, ...args], {
      cwd: gitDir, env: { ...envOf(gitDir), ...env }, stdio: ['pipe', 'pipe', 'pipe'],
    })
    const [out, err]: [Buffer[], Buffer[]] = [[], []]
    child.stdout.on('data', (piece: Buffer) => out.push(piece))
    child.stderr.on('data', (piece: Buffer) => err.push(piece))
    child.on('error', reject)
    child.on('close', (code) => resolve({
      status: code ?? -1, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString('utf8'),
    }))
    // A git that ends early says why by its status.
    child.stdin.on('error', () => undefined)
    for (const part of input) child.stdin.write(part)
    child.stdin.end()
  })

const quoted = (path: string): string =>
  `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`

const identity = /^(author|committer) (.*) <(.*)> (\d+) [+-]\d{4}$/

const personIn = (head: readonly string[], word: string): Person => {
  const found = head.map((line) => identity.exec(line)).find((match) => match?.[1] === word)
  const [, , name = '', email = '', seconds = '0'] = found ?? []
  return { name, email, seconds: Number(seconds) }
}

const commitIn = (body: string): StoredCommit => {
  const cut = body.indexOf('\n\n')
  const head = body.slice(0, cut).split('\n')
  const after = (word: string): string[] =>
    head.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
  return {
    tree: after('tree')[0] ?? '', parents: after('parent'),
    author: personIn(head, 'author'), committer: personIn(head, 'committer'),
    message: body.slice(cut + 2),
  }
}

const rowForm = /^(\d{6}) (\w+) ([0-9a-f]{40})\s+(\d+|-)\t([^]*)$/

const statuses: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added', D: 'removed', M: 'modified', R: 'renamed', T: 'changed',
}

/** One repository. Changes are made one after the other, reads whenever they come. */
export class GitStore {
  readonly gitDir: string
  #queue: Promise<unknown> = Promise.resolve()

  constructor(gitDir: string) {
    this.gitDir = gitDir
  }

  /** Makes the repository where there is none. */
  async init(): Promise<void> {
    await mkdir(this.gitDir, { recursive: true, mode: 0o700 })
    await this.#git(['init', '-q', '--bare', '--template=', '-b', 'main', this.gitDir])
  }

  /** Stores a blob and gives its id. */
  writeBlob(bytes: Uint8Array): Promise<string> {
    return this.#changing(() => this.#line(['hash-object', '-w', '--stdin'], [bytes]))
  }

  /** Type and bytes of an object, or null where there is none. */
  async object(id: string): Promise<{ type: string, bytes: Buffer } | null> {
    const printed = await this.#git(['cat-file', '--batch'], [`${id}\n`])
    const end = printed.indexOf(0x0a)
    const [, type = '', size = ''] = printed.subarray(0, end).toString('latin1').split(' ')
    if (type === 'missing' || size === '') return null
    return { type, bytes: printed.subarray(end + 1, end + 1 + Number(size)) }
  }

  /** Types of objects by their ids; those that are not there are left out. */
  async typesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map()
    const input = ids.map((id) => `${id}\n`)
    const printed = await this.#git(['cat-file', '--batch-check'], input)
    return new Map(printed.toString('latin1').split('\n').map((line) => line.split(' '))
      .filter(([, type]) => type !== undefined && type !== 'missing')
      .map(([id = '', type = '']) => [id, type]))
  }

  /** Rows of a tree, or of all levels, folders included. */
  async rows(tree: string, recursive: boolean): Promise<readonly TreeRow[]> {
    const deep = recursive ? ['-r', '-t'] : []
    const printed = await this.#git(['ls-tree', '-l', '-z', ...deep, tree])
    return printed.toString('utf8').split('\0').flatMap((line) => {
      const [, mode, type, id, size, path] = rowForm.exec(line) ?? []
      if (mode === undefined || type === undefined || id === undefined) return []
      return [{ mode, type, id, size: size === '-' ? null : Number(size), path: path ?? '' }]
    })
  }

  async commit(id: string): Promise<StoredCommit | null> {
    const found = await this.object(id)
    return found?.type === 'commit' ? commitIn(found.bytes.toString('utf8')) : null
  }

  /** Makes a tree of entries over another one and gives its id; in one process, whatever it has. */
  writeTree(base: string | null, entries: readonly NewEntry[]): Promise<string> {
    const texts = entries.filter(({ content }) => content !== null)
    const marks = new Map(texts.map((entry, at) => [entry, `:${at + 1}`]))
    const blobs = texts.flatMap((entry, at) => {
      const bytes = Buffer.from(entry.content ?? '', 'utf8')
      return [`blob\nmark :${at + 1}\ndata ${bytes.length}\n`, bytes, '\n']
    })
    const ref = 'refs/sandbox/scratch'
    const begin = `commit ${ref}\ncommitter s <s@localhost> 0 +0000\ndata 0\n`
    const start = base === null ? '' : `M 040000 ${base} ""\n`
    const changes = entries.map((entry) =>
      `M ${entry.mode} ${marks.get(entry) ?? entry.id ?? ''} ${quoted(entry.path)}\n`)
    const end = `ls ""\n\nreset ${ref}\nfrom ${'0'.repeat(40)}\n\n`
    return this.#changing(async () => {
      const printed = await this.#line(
        ['fast-import', '--quiet', '--force', '--date-format=raw'],
        [...blobs, begin, start, ...changes, end])
      // A tree without entries is told as missing.
      return /^040000 tree ([0-9a-f]{40})/.exec(printed)?.[1]
        ?? this.#line(['mktree'], [])
    })
  }

  /** Makes a commit and gives its id. */
  writeCommit(commit: StoredCommit): Promise<string> {
    const { author, committer } = commit
    return this.#changing(() => this.#line(
      ['commit-tree', commit.tree, ...commit.parents.flatMap((id) => ['-p', id])],
      [commit.message], {
        GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email,
        GIT_AUTHOR_DATE: `@${author.seconds} +0000`,
        GIT_COMMITTER_NAME: committer.name, GIT_COMMITTER_EMAIL: committer.email,
        GIT_COMMITTER_DATE: `@${committer.seconds} +0000`,
      }))
  }

  /** What a full reference name points at, or null. */
  async ref(name: string): Promise<string | null> {
    const { status, stdout } = await run(this.gitDir, ['show-ref', '--verify', '-s', '--', name])
    return status === 0 ? stdout.toString('latin1').trim() : null
  }

  /** Whether a full reference name may exist. */
  async validRef(name: string): Promise<boolean> {
    return (await run(this.gitDir, ['check-ref-format', name])).status === 0
  }

  /** Points a branch at a commit, from `before` or, with null, from nothing. False if it is not. */
  setRef(name: string, id: string, before: string | null): Promise<boolean> {
    const from = before ?? '0'.repeat(40)
    return this.#changing(async () =>
      (await run(this.gitDir, ['update-ref', '--', name, id, from])).status === 0)
  }

  /** Whether the repository has no branch at all. */
  async isEmpty(): Promise<boolean> {
    const printed = await this.#git(['for-each-ref', '--count=1', 'refs/heads'])
    return printed.length === 0
  }

  /** How many commits `head` has that `base` has not. */
  async ahead(base: string, head: string): Promise<number> {
    return Number(await this.#line(['rev-list', '--count', `${base}..${head}`]))
  }

  /** Files that `head` has differently from where it left `base`. */
  async changedFiles(base: string, head: string): Promise<readonly ChangedFile[]> {
    const from = await this.#line(['merge-base', base, head])
    const both = ['diff-tree', '-r', '-M', '-z']
    const [raw, numbers, patch] = await Promise.all([
      this.#git([...both, '--raw', '--no-abbrev', from, head]),
      this.#git([...both, '--numstat', from, head]),
      this.#git(['diff-tree', '-r', '-M', '-p', '--full-index', from, head]),
    ])
    return changesIn(raw, numbers, patch)
  }

  async #git(
    args: readonly string[], input: readonly (string | Uint8Array)[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Buffer> {
    const { status, stdout, stderr } = await run(this.gitDir, args, input, env)
    if (status !== 0) throw new Error(`git ${args[0]} ended with ${status}: ${stderr}`)
    return stdout
  }

  async #line(
    args: readonly string[], input: readonly (string | Uint8Array)[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    return (await this.#git(args, input, env)).toString('utf8').split('\n')[0] ?? ''
  }

  #changing<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(change)
    this.#queue = done.catch(() => undefined)
    return done
  }
}

/** Reads `--raw -z`, `--numstat -z` and the patches, which list the same files in one order. */
const changesIn = (raw: Buffer, numbers: Buffer, patch: Buffer): readonly ChangedFile[] => {
  const words = raw.toString('utf8').split('\0')
  const counts = countsIn(numbers.toString('utf8').split('\0'))
  const patches = patch.toString('utf8').split(/^diff --git .*\n/m).slice(1)
  const found: ChangedFile[] = []
  for (let at = 0; words[at]?.startsWith(':') === true;) {
    const [, , , id = '', letter = ''] = (words[at] ?? '').split(' ')
    const status = statuses[letter.charAt(0)] ?? 'changed'
    const moved = status === 'renamed'
    const [first = '', second = ''] = [words[at + 1], words[at + 2]]
    const [additions, deletions] = counts[found.length] ?? [0, 0]
    const hunk = /^@@[^]*/m.exec(patches[found.length] ?? '')?.[0].replace(/\n$/, '')
    found.push({
      status, path: moved ? second : first, before: moved ? first : null, id, additions, deletions,
      patch: hunk ?? null,
    })
    at += moved ? 3 : 2
  }
  return found
}

const countsIn = (words: readonly string[]): readonly (readonly [number, number])[] => {
  const counts: [number, number][] = []
  for (let at = 0; at < words.length; at += 1) {
    const [plus, minus, path] = (words[at] ?? '').split('\t')
    if (minus === undefined) continue
    counts.push([Number(plus) || 0, Number(minus) || 0])
    // A rename writes both names after it, each on its own.
    if (path === '') at += 2
  }
  return counts
}
