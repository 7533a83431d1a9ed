/** The image that a proof sends. */
import sharp from 'sharp'
import t from 'tap'
import { twoColourPng } from '../../src/gateway/test-image.js'

t.test('the image of a proof is red to its left and blue to its right, as another reader sees it', async (t) => {
  const { data, info } = await sharp(twoColourPng()).raw().toBuffer({ resolveWithObject: true })
  t.hasStrict(info, { format: 'raw', width: 32, height: 32, channels: 3 })
  for (let at = 0; at < 32 * 32; at += 1) {
    const [red, blue] = at % 32 < 16 ? [255, 0] : [0, 255]
    t.strictSame([...data.subarray(at * 3, at * 3 + 3)], [red, 0, blue], `pixel ${at}`)
  }
  t.equal((await sharp(twoColourPng()).metadata()).hasAlpha, false)
})
