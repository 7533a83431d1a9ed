/** The system that this runs on: chosen once, at the first mention. */
import { darwin } from './darwin.js'
import { linux } from './linux.js'
import { other, windows } from './other.js'
import type { Platform } from './platform.js'

const records: Readonly<Partial<Record<NodeJS.Platform, Platform>>> = {
  linux, darwin, win32: windows,
}

/** The record of a system, by Node's name of it. */
export const platformOf = (name: NodeJS.Platform): Platform => records[name] ?? other

/** The record of this system. */
export const thisPlatform: Platform = platformOf(process.platform)

/** The processor, as Node names it. */
export const machineArch: string = process.arch

/** This system as Node names it, and its processor: `linux x64`. */
export const machineName = `${process.platform} ${machineArch}`
