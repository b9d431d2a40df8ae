import { H3, serve } from "h3";
// with the other imports

const app = new H3();
// after app is created, before other plugins and the routes

app.get("/orders", () => {
  throw new Error("Could not load orders");
});

serve(app, { port: process.env.PORT ?? 3000 });
