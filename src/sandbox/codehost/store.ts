/**
 * What the sandbox's code host keeps: repositories with their objects, issues, pull requests and
 * comments. It lies in one folder and is there again at the next start.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivate } from '../folder.js'
import { isObject } from '../json.js'
import type { JsonObject } from '../types.js'
import { GitStore } from './git.js'
import type { HostComment, HostIssue, HostRepository, HostUser } from './shapes.js'

/** A repository with everything in it. */
export interface Kept {
  facts: HostRepository
  /** Names it had before, `owner/name` in lowercase; requests for them are sent on. */
  readonly formerly: string[]
  readonly git: GitStore
  readonly issues: HostIssue[]
  readonly comments: HostComment[]
}

/** A repository to make. */
interface NewRepository {
  readonly owner: string
  readonly name: string
  /** Default true. */
  readonly private?: boolean
  /** Files of its first commit; null leaves it without one. Default: a handful. */
  readonly files?: Readonly<Record<string, string>> | null
}

const schema = 'sallyport.sandbox.codehost.v1'
const bookFile = 'book.json'

/** The repository that every sandbox has. */
export const seedRepository = { owner: 'operator', name: 'notes' } as const

const seedFiles: Readonly<Record<string, string>> = {
  'README.md': '# Notes\n\nA repository to try publications on.\n',
  'docs/plan.md': '# Plan\n\n- one\n- two\n',
  'docs/reading/list.md': '- a book\n',
  'src/greet.sh': '#!/bin/sh\necho hello\n',
  '.gitignore': 'build/\n',
}

const person = { name: 'Operator', email: 'operator@sandbox.invalid' }

/** The whole of it. Opened at the first request, so that a sandbox without one needs no git. */
export class CodehostStore {
  readonly #dir: string
  readonly #wallMs: () => number
  readonly #kept: Kept[] = []
  readonly #users: HostUser[] = []
  #nextId = 1001
  #opened: Promise<void> | null = null
  #saving: Promise<void> = Promise.resolve()

  constructor(dir: string, wallMs: () => number) {
    this.#dir = dir
    this.#wallMs = wallMs
  }

  /** Reads what is there, or makes the first repository. Safe to call often. */
  open(): Promise<void> {
    return (this.#opened ??= this.#open())
  }

  /** The moment as the host writes it. */
  now(): string {
    return new Date(Math.floor(this.#wallMs() / 1000) * 1000).toISOString().replace('.000Z', 'Z')
  }

  /** A number that nothing else has. */
  newId(): number {
    return this.#nextId++
  }

  user(login: string): HostUser {
    const found = this.#users.find((one) => one.login === login)
    if (found !== undefined) return found
    const user = { login, id: this.newId() }
    this.#users.push(user)
    return user
  }

  /** A repository by its present names, letter case aside. */
  find(owner: string, name: string): Kept | undefined {
    const wanted = `${owner}/${name}`.toLowerCase()
    return this.#kept.find(({ facts }) =>
      `${facts.owner.login}/${facts.name}`.toLowerCase() === wanted)
  }

  /** A repository by names that it had before. */
  findFormer(owner: string, name: string): Kept | undefined {
    const wanted = `${owner}/${name}`.toLowerCase()
    return this.#kept.find(({ formerly }) => formerly.includes(wanted))
  }

  /** Makes a repository with its first commit on `main`. */
  async create(wanted: NewRepository): Promise<Kept> {
    const id = this.newId()
    const git = new GitStore(join(this.#dir, `${id}.git`))
    await git.init()
    const kept: Kept = {
      facts: {
        id, owner: this.user(wanted.owner), name: wanted.name, description: 'Made by the sandbox.',
        private: wanted.private ?? true, archived: false, hasIssues: true, createdAt: this.now(),
      },
      formerly: [], git, issues: [], comments: [],
    }
    const files = wanted.files === undefined ? seedFiles : wanted.files
    if (files !== null) await this.commit(kept, 'main', files, 'First commit\n')
    this.#kept.push(kept)
    await this.save()
    return kept
  }

  /** Commits files over what a branch has, as somebody else would; gives the commit's id. */
  async commit(
    { git }: Kept, branch: string, files: Readonly<Record<string, string>>, message: string,
  ): Promise<string> {
    const ref = `refs/heads/${branch}`
    const before = await git.ref(ref)
    const base = before === null ? null : (await git.commit(before))?.tree ?? null
    const tree = await git.writeTree(base, Object.entries(files).map(([path, content]) => ({
      path, mode: path.endsWith('.sh') ? '100755' : '100644', id: null, content,
    })))
    const someone = { ...person, seconds: Math.floor(this.#wallMs() / 1000) }
    const id = await git.writeCommit({
      tree, parents: before === null ? [] : [before], author: someone, committer: someone, message,
    })
    await git.setRef(ref, id, before)
    return id
  }

  /** Writes issues, pull requests and comments down; objects and branches are in git already. */
  save(): Promise<void> {
    this.#saving = this.#saving
      .then(() => writePrivate(join(this.#dir, bookFile), `${JSON.stringify(this.#book())}\n`))
    return this.#saving
  }

  #book(): JsonObject {
    return {
      schema, next_id: this.#nextId, users: this.#users,
      repositories: this.#kept.map(({ facts, formerly, issues, comments }) =>
        ({ facts, formerly, issues, comments })),
    }
  }

  async #open(): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 })
    if (await this.#read()) return
    await this.create(seedRepository)
  }

  async #read(): Promise<boolean> {
    const text = await readFile(join(this.#dir, bookFile), 'utf8').catch(() => '')
    const book = parsed(text)
    if (book === null) return false
    this.#nextId = book.next_id
    this.#users.push(...book.users)
    this.#kept.push(...book.repositories.map((one) =>
      ({ ...one, git: new GitStore(join(this.#dir, `${one.facts.id}.git`)) })))
    return true
  }
}

interface Book {
  readonly next_id: number
  readonly users: HostUser[]
  readonly repositories: Omit<Kept, 'git'>[]
}

/** The book as this program wrote it; anything else is begun anew. */
const parsed = (text: string): Book | null => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && value.schema === schema ? value as unknown as Book : null
  } catch {
    return null
  }
}
