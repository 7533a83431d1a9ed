// Runs one test file of a copy of the project, and ends everything that it started.
import { spawn } from 'node:child_process'

const running = new Set()
const whyCharactersMax = 160

/**
 * Runs a compiled test file, or the one test in it that has a title.
 * @param {{ dir: string, file: string, env: NodeJS.ProcessEnv, limitMs: number, title?: string }}
 *   options
 * @returns {Promise<{ ok: boolean, why: string, ms: number, late: boolean, last: string,
 *   ran: readonly { title: string, ok: boolean, why: string, ms: number }[] }>} `why` is the first
 *   assertion that failed, or how the process ended; `late`: it was ended, for its time; `last` is
 *   the title of the test that began last, which is the one that failed where the first failure
 *   ends a file; `ran` are its tests in their order, those that were skipped left out
 */
export const runTest = ({ dir, file, env, limitMs, title = '' }) =>
  new Promise((resolve) => {
    const began = Date.now()
    // A group of its own: what it started ends with it.
    // The limit is ours: tap's own would fail a slow file on a busy machine, mutation or none.
    const child = spawn(process.execPath, [file], {
      cwd: dir, detached: true, stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...env, TAP: '1', TAP_TIMEOUT: String(limitMs / 1000), ...only(title) },
    })
    running.add(child)
    let output = ''
    let late = false
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
    const timer = setTimeout(() => {
      late = true
      end(child)
    }, limitMs)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      end(child)
      running.delete(child)
      const failed = /^\s*not ok \d+ - (.*?)\s*(?:#.*|\{)?$/m.exec(output)?.[1]
      const how = late ? `took more than ${limitMs} ms` : `ended with ${signal ?? code}`
      const why = (late ? how : (failed ?? how)).slice(0, whyCharactersMax)
      const last = [...output.matchAll(/^# Subtest: (.*)$/gm)].at(-1)?.[1] ?? ''
      resolve({
        ok: code === 0, why, ms: Date.now() - began, late, last: bare(last), ran: ranIn(output),
      })
    })
  })

const only = (title) =>
  (title === '' ? {} : { TAP_GREP: `/^${title.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}$/` })

const line = /^(\s*)(not )?ok \d+ - (.*?)(?: # (?:time=([\d.]+)ms|(SKIP|TODO).*))?(?: \{)?$/

/** A title as it was given. */
const bare = (title) => title.replace(/\\([\\#])/g, '$1')

/** The tests of a file as tap tells them, each with the first of its assertions that failed. */
const ranIn = (output) => {
  const ran = []
  let failed = null
  for (const text of output.split('\n')) {
    const [, indent, not, told, ms, skipped] = line.exec(text) ?? []
    if (told === undefined) continue
    const name = bare(told)
    if (indent !== '') {
      if (not !== undefined) failed ??= name
      continue
    }
    const why = (failed ?? name).slice(0, whyCharactersMax)
    if (skipped !== 'SKIP') {
      ran.push({ title: name, ok: not === undefined, why, ms: Math.ceil(Number(ms ?? 0)) })
    }
    failed = null
  }
  return ran
}

/** Ends what still runs; for signals. */
export const endTests = () => {
  for (const child of running) end(child)
}

const end = (child) => {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Nothing of its group is left.
  }
}
