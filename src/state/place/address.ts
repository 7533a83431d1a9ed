/** Placeholder until the real one lands. */
/** Where. */
export interface PlaceAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}
/** Reads one. */
export const parsePlaceAddress = (text: string, _ca: string | null): PlaceAddress => {
  const url = new URL(text)
  return {
    host: url.hostname, port: Number(url.port || 5432), user: url.username,
    database: url.pathname.slice(1),
  }
}
