module.exports = (app) => {
  app.get("/orders", async () => {
    throw new Error("Could not load orders");
  });
};
