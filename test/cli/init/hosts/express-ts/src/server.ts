import express, { type Express, type NextFunction, type Request, type Response } from 'express';
// with the other imports

const app: Express = express();
// after app is created, before the routes
const port = Number(process.env.PORT ?? 3000);

app.get('/orders', async (_request: Request, response: Response): Promise<void> => {
  response.json(await orders());
});
// after the routes, before your own error handlers

app.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
  response.status(500).json({ capture: error.message });
});

async function start(): Promise<void> {
  app.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`));
}

async function orders(): Promise<string[]> {
  throw new Error('Could not load orders');
}

await start();
