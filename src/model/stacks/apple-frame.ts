import type { ClientFrame } from './client-frame.js'

/** `3   Shop   0x0000000104b2c1a8 Cart.total() + 120 (Cart.swift:42)`: number, image, address, name, offset, place. */
const START = /^\d{1,4}\s{1,10}(\S(?:[^\t]{0,80}?\S)?)\s{1,60}0x[\da-f]{6,16}\s{1,4}(?=\S)/i

/** A line of a crash report or of `Thread.callStackSymbols`; null for any other. */
export function appleFrame(line: string): ClientFrame | null {
  const start = START.exec(line)
  if (!start) return null
  const [head, image = ''] = start
  const rest = line.slice(head.length)
  const place = /\(([\w.+-]{1,200}:\d{1,9})\)$/.exec(rest)
  // Behind the name stands how far into it, which differs between builds; what was not named is an address alone.
  const name = (place ? rest.slice(0, place.index) : rest).replace(/ \+ \d{1,12}\s*$/, '').trim()
  return {
    name: /^0x[\da-f]+$/i.test(name) ? '' : name,
    location: place?.[1] ?? image,
    is_library: SYSTEM.test(image),
  }
}

/** The libraries of the system; an app is named as its maker likes. */
const SYSTEM =
  /^(?:lib[\w+.-]{1,80}\.dylib|dyld(?:_sim)?|\?\?\?|UIKit(?:Core)?|SwiftUI(?:Core)?|AttributeGraph|Swift|Core[A-Z]\w{1,40}|CFNetwork|Foundation|GraphicsServices|QuartzCore|Combine|WebKit|WebCore|JavaScriptCore|Network|Security|Metal\w{0,20}|AVF\w{1,20}|FrontBoardServices|BackBoardServices|RunningBoardServices|hermes)$/
