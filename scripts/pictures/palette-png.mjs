import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const MAX_COLORS = 256

/** Reduces a screenshot to 256 colors, which cuts its size to a third. Text and flat colors look the same. */
export function toPalettePng(screenshot) {
  const { width, height, pixels } = decode(screenshot)
  const palette = choosePalette(pixels)
  return encode({ width, height, palette, indexes: nearestIndexes(pixels, palette) })
}

/** Decodes a PNG of Chromium, which has 8 bits per channel and no interlacing, into one 24-bit number per pixel. */
function decode(png) {
  const chunks = readChunks(png)
  const header = chunks.find(({ type }) => type === 'IHDR').data
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const channels = header[9] === 6 ? 4 : 3
  const bytes = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)))
  const stride = width * channels
  const pixels = new Uint32Array(width * height)
  let above = Buffer.alloc(stride)
  for (let y = 0; y < height; y++) {
    const start = y * (stride + 1)
    const row = bytes.subarray(start + 1, start + 1 + stride)
    removeFilter(bytes[start], row, above, channels)
    for (let x = 0; x < width; x++) pixels[y * width + x] = row.readUIntBE(x * channels, 3)
    above = row
  }
  return { width, height, pixels }
}

function readChunks(png) {
  const chunks = []
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  return chunks
}

/** Restores a row in place: https://www.w3.org/TR/png/#9Filters */
function removeFilter(filter, row, above, channels) {
  const predict = PREDICTIONS[filter]
  for (let i = 0; i < row.length; i++) {
    const hasLeft = i >= channels
    row[i] += predict(hasLeft ? row[i - channels] : 0, above[i], hasLeft ? above[i - channels] : 0)
  }
}

const PREDICTIONS = [() => 0, (left) => left, (_, above) => above, (left, above) => (left + above) >> 1, paeth]

function paeth(left, above, aboveLeft) {
  const estimate = left + above - aboveLeft
  const distance = Math.abs(estimate - left)
  const distanceAbove = Math.abs(estimate - above)
  const distanceAboveLeft = Math.abs(estimate - aboveLeft)
  if (distance <= distanceAbove && distance <= distanceAboveLeft) return left
  return distanceAbove <= distanceAboveLeft ? above : aboveLeft
}

/** Selects frequent colors, so that every other color has a close match in the palette. */
function choosePalette(pixels) {
  const counts = new Map()
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1)
  const colors = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a))
  for (let distance = 0; ; distance += 2) {
    const palette = []
    for (const color of colors) {
      if (palette.some((chosen) => distanceBetween(chosen, color) <= distance ** 2)) continue
      if (palette.push(color) > MAX_COLORS) break
    }
    if (palette.length <= MAX_COLORS) return palette
  }
}

function nearestIndexes(pixels, palette) {
  const cache = new Map()
  return Buffer.from(pixels.map((color) => cache.get(color) ?? findNearest(color)))

  function findNearest(color) {
    const distances = palette.map((chosen) => distanceBetween(chosen, color))
    const index = distances.indexOf(Math.min(...distances))
    cache.set(color, index)
    return index
  }
}

/** Squared distance between two 24-bit colors. */
function distanceBetween(a, b) {
  const red = (a >> 16) - (b >> 16)
  const green = ((a >> 8) & 255) - ((b >> 8) & 255)
  const blue = (a & 255) - (b & 255)
  return red * red + green * green + blue * blue
}

function encode({ width, height, palette, indexes }) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // 8 bits per pixel: an index into the palette.
  header.set([8, 3], 8)
  const colors = Buffer.alloc(palette.length * 3)
  palette.forEach((color, i) => {
    colors.writeUIntBE(color, i * 3, 3)
  })
  const rows = Buffer.alloc((width + 1) * height)
  // The first byte of a row is its filter: none.
  for (let y = 0; y < height; y++) indexes.copy(rows, y * (width + 1) + 1, y * width, (y + 1) * width)
  const chunks = [
    ['IHDR', header],
    ['PLTE', colors],
    ['IDAT', deflateSync(rows, { level: 9 })],
    ['IEND', Buffer.alloc(0)],
  ]
  return Buffer.concat([SIGNATURE, ...chunks.map(([type, data]) => chunk(type, data))])
}

function chunk(type, data) {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, checksum])
}
