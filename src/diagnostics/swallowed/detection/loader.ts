import type { LoaderData } from './hooks.js'
import { Instrument, type Loaded } from './instrument.js'

/*
 * Runs in the thread that loads ES modules, where Node.js has one for that: below 22.15.
 */
let instrument: Instrument | null = null

export function initialize({ root, own_folder, port }: LoaderData): void {
  port.unref()
  instrument = new Instrument({
    root,
    own_folder,
    onMarked: (file, lines, is_mapped) => port.postMessage({ file, lines, is_mapped }),
    onUnreadable: (file) => port.postMessage({ unreadable: file }),
  })
}

export async function load(
  url: string,
  context: object,
  next: (url: string, context: object) => Promise<Loaded>,
): Promise<object> {
  const loaded = await next(url, context)
  // What is no ES module is loaded by the host's own thread, and marked there.
  const marked = loaded.format === 'module' ? instrument?.of({ ...loaded, url }) : null
  return marked ? { ...loaded, ...marked } : loaded
}
