/**
 * Reads a pipe of this machine without keeping a thread: the event loop waits for it as for a
 * socket, so that the wait ends as soon as the stream is destroyed. Connects to nothing.
 */
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'

/**
 * The stream of a pipe that was opened for reading without waiting. It takes over the descriptor
 * and closes it. It waits for the first writer and ends when the last one is gone.
 */
export const pipeStream = (fd: number): Readable => new Socket({ fd, writable: false })
