// Runs another program and gives back what it printed; never through a shell.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The project's root folder, with no final slash. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/**
 * Runs a program to its end.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ show?: boolean, env?: NodeJS.ProcessEnv, cwd?: string }} [options]
 *   `show` hands the program this process's own streams instead of collecting its output.
 * @returns {Promise<{ status: number, output: string }>}
 */
export const run = (file, args, { show = false, env = process.env, cwd = root } = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text) => (output += text))
    child.stderr?.setEncoding('utf8').on('data', (text) => (output += text))
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ status: code ?? signalStatus(signal), output }))
  })

/** The entry script of an installed development tool. */
export const tool = (path) => `${root}/node_modules/${path}`

const signalStatus = (signal) => (signal === 'SIGINT' ? 130 : 1)
