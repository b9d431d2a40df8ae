const STREAMED = /^text\/(?:event-stream|csv)\b/

/** Whether a response is streamed, so that its length is unknown. */
export function isStreamed(headers: Headers): boolean {
  return STREAMED.test(headers.get('content-type') ?? '')
}
