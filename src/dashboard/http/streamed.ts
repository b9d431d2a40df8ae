const STREAMED = /^text\/(?:event-stream|csv)\b/
/** Asks reverse proxies not to buffer a response. Marks pages whose layout is sent before their content. */
export const UNBUFFERED = { 'X-Accel-Buffering': 'no' }

/** Whether a response is streamed, so that its length is unknown. */
export function isStreamed(headers: Headers): boolean {
  return STREAMED.test(headers.get('content-type') ?? '') || headers.get('x-accel-buffering') === 'no'
}
