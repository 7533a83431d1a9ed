/**
 * The bitmap font of the sample screens: capitals, digits and marks of 5x7 pixels. Each character
 * is seven rows from the top; a row is one base-32 digit whose five bits are its pixels.
 */
const glyphs: Readonly<Record<string, string>> = {
  A: 'ehhvhhh', B: 'uhhuhhu', C: 'ehggghe', D: 'uhhhhhu', E: 'vgguggv', F: 'vgguggg',
  G: 'ehgnhhf', H: 'hhhvhhh', I: 'e44444e', J: '7222iic', K: 'hikokih', L: 'ggggggv',
  M: 'hrllhhh', N: 'hhpljhh', O: 'ehhhhhe', P: 'uhhuggg', Q: 'ehhhlid', R: 'uhhukih',
  S: 'fgge11u', T: 'v444444', U: 'hhhhhhe', V: 'hhhhha4', W: 'hhhllla', X: 'hha4ahh',
  Y: 'hha4444', Z: 'v1248gv',
  0: 'ehjlphe', 1: '4c4444e', 2: 'eh1248v', 3: 'v2421he', 4: '26aiv22', 5: 'vgu11he',
  6: '68guhhe', 7: 'v124888', 8: 'ehhehhe', 9: 'ehhf12c',
  '.': '00000cc', ',': '0000c48', ':': '0cc0cc0', ';': '0cc0c48', '-': '000v000',
  _: '000000v', '+': '044v440', '=': '00v0v00', '/': '01248g0', '(': '2488842',
  ')': '8422248', '{': '6448446', '}': 'c44244c', '[': 'e88888e', ']': 'e22222e',
  '<': '248g842', '>': '8421248', '\'': '4480000', '"': 'aa00000', '!': '4444404',
  '?': 'eh12404', '*': '04lel40', '#': 'aavavaa', '|': '4444444',
}

/** Pixels of a character's cell, gap included. */
export const cell = { width: 6, height: 7 } as const

/** Whether a pixel of a character is set; what the font lacks is blank. */
export const isSet = (char: string, x: number, y: number): boolean => {
  const row = glyphs[char.toUpperCase()]?.[y]
  return row !== undefined && x < 5 && ((Number.parseInt(row, 32) >> (4 - x)) & 1) === 1
}
