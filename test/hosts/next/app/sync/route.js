export function GET() {
  throw new Error('sync is broken')
}

export const POST = GET
