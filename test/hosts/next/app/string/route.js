export async function GET() {
  throw 'string is broken'
}
