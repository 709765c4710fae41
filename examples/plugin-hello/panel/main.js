// The page of the gateway hands over a port: the one way out of this frame.
const calls = new Map();
let port;
let last = 0;

addEventListener("message", ({ source, data, ports }) => {
  if (source !== parent) return;
  // Now, and whenever somebody chooses the other colours.
  if (data.type === "port" || data.type === "theme") document.documentElement.dataset.theme = data.theme;
  if (data.type !== "port") return;
  [port] = ports;
  port.onmessage = ({ data: { id, ok, payload, error } }) => {
    const call = calls.get(id);
    calls.delete(id);
    if (ok) call?.resolve(payload);
    else call?.reject(new Error(error.message));
  };
  greet("");
});

/** Calls a method that the panel lists in `methods`. */
function call(method, params) {
  return new Promise((resolve, reject) => {
    last += 1;
    calls.set(last, { resolve, reject });
    port.postMessage({ id: last, method, params });
  });
}

async function greet(name) {
  const trouble = document.getElementById("trouble");
  trouble.textContent = "";
  try {
    const { text } = await call("hello.greet", { name });
    document.getElementById("card").textContent = text;
  } catch (error) {
    trouble.textContent = error.message;
  }
}

const field = document.getElementById("name");
document.getElementById("greet").addEventListener("click", () => void greet(field.value));
field.addEventListener("keydown", ({ key }) => {
  if (key === "Enter") void greet(field.value);
});

parent.postMessage("ready", "*");
