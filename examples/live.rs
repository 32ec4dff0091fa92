// The same as live.c, in Rust, without any crate: rustc -L native=FOLDER_OF_THE_LIBRARY examples/live.rs
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::io::{self, BufRead, Write};
use std::ptr;

#[link(name = "remede_c")]
extern "C" {
    fn remede_last_error() -> *const c_char;
    fn remede_model_load(path: *const c_char, model: *mut *mut c_void) -> c_int;
    fn remede_model_free(model: *mut c_void);
    fn remede_model_inputs(model: *const c_void) -> usize;
    fn remede_model_outputs(model: *const c_void) -> usize;
    fn remede_model_output_name(model: *const c_void, output: usize) -> *const c_char;
    fn remede_stream_new(model: *const c_void, stream: *mut *mut c_void) -> c_int;
    fn remede_stream_free(stream: *mut c_void);
    fn remede_stream_step(stream: *mut c_void, x: *const f32, y: *mut f32) -> c_int;
}

fn text(pointer: *const c_char) -> String {
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

fn checked(status: c_int) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(text(unsafe { remede_last_error() })) }
}

struct Model(*mut c_void);
impl Model {
    fn load(path: &str) -> Result<Model, String> {
        let path = CString::new(path).map_err(|e| e.to_string())?;
        let mut model = ptr::null_mut();
        checked(unsafe { remede_model_load(path.as_ptr(), &mut model) })?;
        Ok(Model(model))
    }
    fn outputs(&self) -> Vec<String> {
        (0..unsafe { remede_model_outputs(self.0) }).map(|o| text(unsafe { remede_model_output_name(self.0, o) })).collect()
    }
}
impl Drop for Model {
    fn drop(&mut self) {
        unsafe { remede_model_free(self.0) }
    }
}

struct Stream {
    handle: *mut c_void,
    inputs: usize,
    y: Vec<f32>,
}
impl Stream {
    fn new(model: &Model) -> Result<Stream, String> {
        let mut handle = ptr::null_mut();
        checked(unsafe { remede_stream_new(model.0, &mut handle) })?;
        let (inputs, outputs) = unsafe { (remede_model_inputs(model.0), remede_model_outputs(model.0)) };
        Ok(Stream { handle, inputs, y: vec![0.0; outputs] })
    }
    fn step(&mut self, x: &[f32]) -> Result<&[f32], String> {
        if x.len() != self.inputs {
            return Err(format!("expected {} inputs, got {}", self.inputs, x.len()));
        }
        checked(unsafe { remede_stream_step(self.handle, x.as_ptr(), self.y.as_mut_ptr()) })?;
        Ok(&self.y)
    }
}
impl Drop for Stream {
    fn drop(&mut self) {
        unsafe { remede_stream_free(self.handle) }
    }
}

fn run() -> Result<(), String> {
    let path = std::env::args().nth(1).ok_or("usage: live MODEL")?;
    let model = Model::load(&path)?;
    let mut stream = Stream::new(&model)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", model.outputs().join(",")).map_err(|e| e.to_string())?;
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let x = line.split_whitespace().map(|cell| cell.parse::<f32>().map_err(|e| e.to_string())).collect::<Result<Vec<_>, _>>()?;
        let answer = stream.step(&x)?.iter().map(|v| v.to_string()).collect::<Vec<_>>();
        writeln!(out, "{}", answer.join(",")).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn main() {
    if let Err(message) = run() {
        eprintln!("live: {message}");
        std::process::exit(1);
    }
}
