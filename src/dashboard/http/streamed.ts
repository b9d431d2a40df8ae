const STREAMED = /^text\/(?:event-stream|csv)\b/
/** Prevents reverse proxies from buffering a response. Marks pages whose layout is sent before the content. */
export const UNBUFFERED = { 'X-Accel-Buffering': 'no' }

/** Checks whether a response is streamed, so that its length is unknown. */
export function isStreamed(headers: Headers): boolean {
  return STREAMED.test(headers.get('content-type') ?? '') || headers.get('x-accel-buffering') === 'no'
}
