// Stands in the test processes for async-hook-domain, by which tap knows whose an error is that
// nobody catches. That one is told of the end of every promise, too, which takes a tenth of the
// time of a process; where a test's code runs is known without.
import { AsyncLocalStorage } from 'node:async_hooks'

const { process } = globalThis

const current = new AsyncLocalStorage()
const open = new Set()
const emit = process.emit

/** Gives an error to the test whose code threw it; false where it is none's. */
const given = (error, type) => {
  const domain = current.getStore()
  if (domain === undefined) return false
  try {
    domain.onerror(error, type)
  } catch (second) {
    domain.destroy()
    throw second
  }
  return true
}

/** Whether the test's own code looks after such errors. */
const isCaught = (event) => process.listenerCount(event) > 0

const onUncaught = (error) => {
  if (process.hasUncaughtExceptionCaptureCallback() || isCaught('uncaughtException')) return
  if (!given(error, 'uncaughtException')) return
  // The process goes on, this once.
  process.setUncaughtExceptionCaptureCallback(() =>
    process.setUncaughtExceptionCaptureCallback(null))
}

// A listener would be one that tests see.
const emitted = (event, ...args) =>
  event !== 'unhandledRejection' || isCaught(event)
    ? emit.call(process, event, ...args) : given(args[0], event)

/** A test: it begins where it is made, and all that is begun there is its own. */
export class Domain {
  /** @param {(error: unknown, type: string) => void} onerror */
  constructor(onerror) {
    this.onerror = onerror
    this.destroyed = false
    if (open.size === 0) {
      process.on('uncaughtExceptionMonitor', onUncaught)
      process.emit = emitted
    }
    open.add(this)
    current.enterWith(this)
  }

  destroy() {
    this.destroyed = true
    if (!open.delete(this) || open.size > 0) return
    process.removeListener('uncaughtExceptionMonitor', onUncaught)
    process.emit = emit
  }
}
