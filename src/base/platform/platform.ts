/**
 * What differs between operating systems, as one record of functions: `linux.ts`, `darwin.ts` and
 * `other.ts` each are one, and `this-platform.ts` chooses once. Whoever needs something else of a
 * system adds it here, with what it gives where it cannot be had.
 * docs/decisions/one-platform-record.md
 */

/** One operating system. */
export interface Platform {
  readonly name: 'linux' | 'darwin' | 'windows' | 'other'
  /**
   * A path that leads to what a descriptor has open, whatever its name is by now. Linux: below
   * /proc, where that is there. Elsewhere null: the caller goes by the whole path.
   */
  placeOf(fd: number): string | null
  /**
   * The name that an open file has now, as bytes. Linux: what /proc says. Elsewhere null: the
   * caller looks at each folder on the way, which leaves a moment between look and use.
   */
  nameOf(fd: number): Buffer | null
  /**
   * Tells one start of the machine from the next, for messages alone. Linux: the kernel's id.
   * Elsewhere null: a Mac tells it to a program that it starts, and none is started for a message.
   */
  bootId(): string | null
  /** Whether the C library is musl, by the maps of this process; false where there are none. */
  usesMusl(): boolean
  /**
   * The program that shows a file to whoever sits here; null where no screen is known. A Mac always
   * has one, another system where a variable names its display.
   */
  opener(env: Readonly<Record<string, string | undefined>>): string | null
  /** Whether launchd runs what a user wants run at its times. */
  readonly hasLaunchd: boolean
  /** The signal that opens Node's inspector unless it is taken; null where there is none. */
  readonly inspectorSignal: 'SIGUSR1' | null
  /** The driver's part of a device number: equal for two terminals, not for one and /dev/null. */
  deviceKind(rdev: number): number
  /**
   * Bytes that this user may still write below a folder. A Mac counts no room that it would make by
   * dropping copies of the cloud, so it may have more. Throws the system's error.
   */
  freeBytes(path: string): number
  /**
   * Which kind of file system a path lies on, where several machines, or a program behind the
   * kernel, may disagree about who holds a lock: `NFS`, `SMB`, `FUSE` and their like. Null for any
   * other, and where the system does not tell it in a stable way (all but Linux).
   */
  sharedKindOf(path: string): string | null
  /**
   * A path in the form in which two spellings of one place are equal. macOS: letter case and
   * Unicode form do not count, as on the disks that it comes with. Elsewhere every byte counts.
   */
  folded(path: string): string
  /**
   * Names of error numbers for which Node has none, or another than on Linux. A Mac says 102 of a
   * socket that is opened as a file, where Linux says `ENXIO`. A used up quota has no name
   * anywhere.
   */
  readonly errnoNames: ReadonlyMap<number, string>
}
