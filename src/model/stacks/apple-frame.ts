import type { ClientFrame } from './client-frame.js'

/**
 * `3 Shop 0x0000000104b2c1a8 Cart.total() + 120 (Cart.swift:42)`: number, image, address, name, offset, location.
 */
const FRAME_START = /^\d{1,4}\s{1,10}(\S(?:[^\t]{0,80}?\S)?)\s{1,60}0x[\da-f]{6,16}\s{1,4}(?=\S)/i

/** Parses a line of a crash report or of `Thread.callStackSymbols`; null for any other line. */
export function parseAppleFrame(line: string): ClientFrame | null {
  const start = FRAME_START.exec(line)
  if (!start) return null
  const [prefix, image = ''] = start
  const rest = line.slice(prefix.length)
  const position = /\(([\w.+-]{1,200}:\d{1,9})\)$/.exec(rest)
  // The offset after the name differs between builds. A frame without symbols has only an address.
  const name = (position ? rest.slice(0, position.index) : rest).replace(/ \+ \d{1,12}\s*$/, '').trim()
  return {
    name: /^0x[\da-f]+$/i.test(name) ? '' : name,
    location: position?.[1] ?? image,
    isLibrary: SYSTEM_IMAGE.test(image),
  }
}

/** System libraries. The name of an app is arbitrary. */
const SYSTEM_IMAGE =
  /^(?:lib[\w+.-]{1,80}\.dylib|dyld(?:_sim)?|\?\?\?|UIKit(?:Core)?|SwiftUI(?:Core)?|AttributeGraph|Swift|Core[A-Z]\w{1,40}|CFNetwork|Foundation|GraphicsServices|QuartzCore|Combine|WebKit|WebCore|JavaScriptCore|Network|Security|Metal\w{0,20}|AVF\w{1,20}|FrontBoardServices|BackBoardServices|RunningBoardServices|hermes)$/
